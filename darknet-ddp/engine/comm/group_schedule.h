/* comm/group_schedule.h: how a group's sums travel, and what they have sent. */
#ifndef DDP_COMM_GROUP_SCHEDULE_H
#define DDP_COMM_GROUP_SCHEDULE_H

#include "comm/group.h"

/* ---- how sums travel ----
 *
 *   direct         Every rank exchanges with every other: it sends 2 (size-1)/size of a sum's
 *                  bytes, and receives as many. A host sends what its ranks send together.
 *   hierarchical   Within a host ranks sum in memory that they share. Between hosts each rank
 *                  exchanges its slice with the ranks that sum this slice on other hosts
 *                  (comm/hierarchical_plan.h), so that a host sends no more than one rank would.
 *                  -ddp_schedule also takes the word levels for it.
 *
 * Both have the same bits. Sums of a GPU's memory that NCCL makes in the order of device/sum.h go
 * the same ways, by messages within hosts, too. NCCL's other sums go its own way. */
typedef enum ddp_schedule {
    DDP_SCHEDULE_AUTO, /* the one that comm/schedule_cost.c expects to be faster */
    DDP_SCHEDULE_DIRECT,
    DDP_SCHEDULE_HIERARCHICAL
} ddp_schedule;

/* Choose how sums travel; without a call they travel directly. Every rank calls it with the same
 * value, before a GPU is used and while no sum is open. It may block until all have. If the ranks
 * of some host cannot share memory, DDP_SCHEDULE_AUTO takes direct, and DDP_SCHEDULE_HIERARCHICAL
 * fails with DDP_ERR_USAGE. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_schedule(ddp_group *g, ddp_schedule wanted, ddp_error *err) DDP_MUST_CHECK;

/* Return in words how sums of ddp_group_device's memory travel: "direct", or "2 levels (4 ranks a
 * host in shared memory, then 2 hosts)". Of no
 * meaning if ddp_group_has_schedule returns 0. The text lives until the schedule changes. */
const char *ddp_group_schedule(const ddp_group *g);

/* Return 1 if sums of ddp_group_device's memory go one of the ways of ddp_schedule; 0 if NCCL sums
 * a GPU's memory in a way of its own. */
int ddp_group_has_schedule(const ddp_group *g);

/* Return 1 if sums of ddp_group_device's memory go through host memory, by the group's own
 * transport; 0 if NCCL makes them. */
int ddp_group_sums_on_host(const ddp_group *g);

/* ---- channels ----
 *
 * Sums take turns at several channels, in the order of starting, and messages are matched within
 * their channel (a round-robin group: Li et al. 2020, sections 3.3 and 5.4). For "mpi" a channel is
 * a communicator; whether each has connections of its own is the MPI's matter (Open MPI 4.1 has one
 * for all). For NCCL it is a communicator with connections and a stream, so that sums may overlap.
 * Channels change no result. */

enum { DDP_CHANNELS_MAX = 8 };

/* Use `channels` channels, 1 to DDP_CHANNELS_MAX; without a call it is 1. Every rank calls it once
 * with the same number, before a GPU is used and while no sum is open. With more than one it blocks
 * until all have. Fails with DDP_ERR_USAGE (a number out of range, or the backend has one channel
 * only), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_channels(ddp_group *g, int channels, ddp_error *err) DDP_MUST_CHECK;

/* Return the number of channels; 1 in a group of one rank. */
int ddp_group_channels(const ddp_group *g);

/* Counts of what this rank's sums and all-gathers have sent since the group was opened. Collectives
 * are left out, and so are NCCL's all-gathers, and sums that it makes in an order of its own. */
typedef struct ddp_traffic {
    uint64_t messages;
    uint64_t bytes;                           /* bytes in all messages */
    uint64_t inter_host_bytes;                /* bytes in messages to other hosts */
    uint64_t channel_bytes[DDP_CHANNELS_MAX]; /* bytes in messages of each channel */
} ddp_traffic;
ddp_traffic ddp_group_traffic(const ddp_group *g);

#endif
