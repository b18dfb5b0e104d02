/* comm/allgather.h: an all-gather that is started, as sums are: the device goes on meanwhile.
 *
 * Each rank gives a part of `count` floats, and all ranks get all parts, in the order of ranks.
 * Nothing is added or rounded: 32 bits of any kind travel as they are. A rank sends its part once
 * to each other rank, or, by levels, once to each other host (ddp_group_use_schedule). A sum with a
 * place for each rank would send as many times that as there are ranks.
 *
 * It is started, fenced, waited for and closed by the functions of sums, and behaves as they do: it
 * has its place in the order of starting, among sums; it takes its turn at the channels, goes by
 * NCCL or through host memory as sums of its device do, is heard of by ddp_group_on_progress, and
 * fails with DDP_ERR_COMM, naming a rank that owes a message, when the timeout has passed. Example,
 * of ranks that tell each other some of their gradients:
 *
 *     float *all; // room for all parts: of rank r from r * count on
 *
 *     ddp_group_alloc_memory(g, d, &all, size * count, err)
 *     ddp_allgather_open(&gather, g, d, all, count, err)
 *     each step
 *         select(all + rank * count, gradients)  // on d's queue: this rank's part
 *         ddp_allreduce_start(gather, err)       // or _start_behind, of another queue
 *         ...                                    // compute, and call ddp_group_progress
 *         ddp_allreduce_fence(gather, err)       // or _fence_before, of another queue
 *         for each rank r: add(gradients, all + r * count)
 *     ddp_allreduce_close(gather)
 *     ddp_group_free_memory(g, d, all)
 *
 * ddp_allreduce_finite tells whether all parts, read as floats, are finite: integers below 2^31 -
 * 2^23 are. It has no halves and no share. */
#ifndef DDP_COMM_ALLGATHER_H
#define DDP_COMM_ALLGATHER_H

#include "comm/allreduce.h"

/* Prepare an all-gather of `count` floats of each rank. all[r * count .. (r + 1) * count) is rank
 * r's part: in memory of d, the host or ddp_group_device, which must outlive it. From start to
 * fence or wait all of it is the group's; a start takes this rank's part as it is then, and the
 * other parts may hold anything. Every rank opens the same counts in the same order, among its
 * sums. count 0 is allowed. *out is set on success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_allgather_open(ddp_allreduce **out, ddp_group *g, ddp_device *d, float *all,
                              size_t count, ddp_error *err) DDP_MUST_CHECK;

#endif
