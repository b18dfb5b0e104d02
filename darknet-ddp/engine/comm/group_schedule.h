/* comm/group_schedule.h: how a group's sums travel, and what they have sent. */
#ifndef DDP_COMM_GROUP_SCHEDULE_H
#define DDP_COMM_GROUP_SCHEDULE_H

#include "comm/group.h"

/* ---- how sums travel ----
 *
 *   direct   every rank with every other: 2 (size-1)/size of a sum's bytes each way, so
 *            that a host of many ranks sends as many times that
 *   levels   within a host in memory that its ranks share, between hosts by messages,
 *            of each rank with its like on other hosts (comm/hierarchical_plan.h): a host
 *            sends no more than one rank would
 *
 * Both have the same bits. Sums of a GPU's memory that NCCL makes in the order of
 * device/sum.h go the same ways, by messages within hosts, too; its others go NCCL's own. */
typedef enum ddp_schedule {
    DDP_SCHEDULE_AUTO, /* what comm/schedule_cost.c takes for the faster one */
    DDP_SCHEDULE_DIRECT,
    DDP_SCHEDULE_HIERARCHICAL
} ddp_schedule;

/* Every rank calls it with the same value, before a GPU is used, while no sum is open, and blocks
 * until all have. Without it: direct. Where the ranks of a host cannot share memory, AUTO takes
 * direct, and LEVELS fails with DDP_ERR_USAGE. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_schedule(ddp_group *g, ddp_schedule wanted, ddp_error *err) DDP_MUST_CHECK;

/* Of sums of ddp_group_device's memory, for people: "direct", "2 levels (4 ranks a host in shared
 * memory, then 2 hosts)"; lives as long as the group. */
const char *ddp_group_schedule(const ddp_group *g);

/* Do they travel so? Those of a GPU do not where NCCL orders them. */
int ddp_group_has_schedule(const ddp_group *g);

/* Do they go through host memory, by the group's own transport? */
int ddp_group_sums_on_host(const ddp_group *g);

/* ---- channels ----
 *
 * A round-robin group (Li et al. 2020, sections 3.3 and 5.4): sums take turns, in the order of
 * starting, at several channels, in each of which messages are matched on their own. Of "mpi" they
 * are communicators: whether each has connections of its own is the MPI's matter (Open MPI 4.1 has
 * one for all). Of NCCL they are communicators with connections and a stream each, so that sums may
 * overlap. What a sum is does not change. */

enum { DDP_CHANNELS_MAX = 8 };

/* Every rank calls it once with the same number, 1 to DDP_CHANNELS_MAX, before a GPU is used, while
 * no sum is open, and blocks until all have. Without it: 1.
 * Fails with DDP_ERR_USAGE (the backend has but one), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_channels(ddp_group *g, int channels, ddp_error *err) DDP_MUST_CHECK;

/* 1 in a group of one rank. */
int ddp_group_channels(const ddp_group *g);

/* What this rank's sums have sent since the group was opened, but for those that NCCL orders. */
typedef struct ddp_traffic {
    uint64_t messages;
    uint64_t bytes;                           /* of them */
    uint64_t inter_host_bytes;                /* of these, those to other hosts */
    uint64_t channel_bytes[DDP_CHANNELS_MAX]; /* of all, those of each channel */
} ddp_traffic;
ddp_traffic ddp_group_traffic(const ddp_group *g);

#endif
