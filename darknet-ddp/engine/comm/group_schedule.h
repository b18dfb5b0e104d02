/* comm/group_schedule.h: chooses how a group's sums travel between ranks, and counts what this rank
 * has sent. */
#ifndef DDP_COMM_GROUP_SCHEDULE_H
#define DDP_COMM_GROUP_SCHEDULE_H

#include "comm/group.h"

/* ---- how sums travel ----
 *
 *   direct         Every rank exchanges slices with every other. Of a long sum's bytes it sends
 *                  2 (size - 1) / size, and receives as many. A host with more ranks sends more.
 *   hierarchical   Ranks of a host sum in memory that they share. Then each rank exchanges its
 *                  slice with ranks of other hosts that have the same slice
 *                  (comm/hierarchical_plan.h). So a host whose ranks are one branch of the
 *                  summation tree sends no more than one rank would. -ddp_schedule also takes the
 *                  word levels for it.
 *
 * Both give the same bits. NCCL's exact sums (ddp_gpu_config) travel in these ways, too, but ranks
 * of a host then exchange messages. NCCL's other sums travel in a way of its own. */
typedef enum ddp_schedule {
    DDP_SCHEDULE_AUTO, /* the schedule that comm/schedule_cost.h chooses */
    DDP_SCHEDULE_DIRECT,
    DDP_SCHEDULE_HIERARCHICAL
} ddp_schedule;

/* Choose how sums travel; without a call they are direct. Every rank calls it with the same value,
 * before ddp_group_use_gpu and while no sum is open. May block until all have. If the ranks of some
 * host cannot share memory, DDP_SCHEDULE_HIERARCHICAL fails with DDP_ERR_USAGE. DDP_SCHEDULE_AUTO
 * then chooses direct, but not for NCCL. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_schedule(ddp_group *g, ddp_schedule wanted, ddp_error *err) DDP_MUST_CHECK;

/* Return in words how sums of ddp_group_device's memory travel: "direct", or "2 levels (4 ranks a
 * host in shared memory, then 2 hosts)". NULL: NCCL sums them in a way of its own. The text lives
 * until the schedule changes. */
const char *ddp_group_schedule(const ddp_group *g);

/* Return 1 if sums of ddp_group_device's memory go through host memory and the group's transport; 0
 * if NCCL makes them. */
int ddp_group_sums_on_host(const ddp_group *g);

/* ---- channels ----
 *
 * Sums take turns at several channels in the order in which they are started, and messages match
 * within a channel. (PyTorch's round-robin process groups: Li et al. 2020, sections 3.3 and 5.4.)
 * With "mpi" a channel is a communicator. Whether it has connections of its own depends on the MPI;
 * in Open MPI 4.1 it has not. With NCCL a channel is a communicator with connections and a stream,
 * so that sums may overlap. Channels change no result. */

enum { DDP_CHANNELS_MAX = 8 };

/* Use `channels` channels, 1 to DDP_CHANNELS_MAX; without a call there is one. Every rank calls it
 * once with the same number, before ddp_group_use_gpu and while no sum is open. With more than one
 * it may block until all have. Fails with DDP_ERR_USAGE (number out of range, or the backend has
 * only one channel), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_channels(ddp_group *g, int channels, ddp_error *err) DDP_MUST_CHECK;

/* Return the number of channels; 1 in a group of one rank. */
int ddp_group_channels(const ddp_group *g);

/* Totals of what this rank has sent since the group was opened, by sums and all-gathers. Not
 * counted are collectives, NCCL's all-gathers, and sums that NCCL makes in an order of its own. */
typedef struct ddp_traffic {
    uint64_t messages;
    uint64_t bytes;
    uint64_t inter_host_bytes;                /* bytes sent to other hosts */
    uint64_t channel_bytes[DDP_CHANNELS_MAX]; /* bytes sent in each channel */
} ddp_traffic;
ddp_traffic ddp_group_traffic(const ddp_group *g);

#endif
