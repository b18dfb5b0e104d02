/* core/sums.h: who makes the sums of a reducer's buckets: core/plain_sums.c adds gradients in
 * place, core/rounds.c what a plug makes of them. For core/reducer*.c alone, which asks no further.
 * A piece is a bucket, or a part of one that is summed in place. */
#ifndef DDP_CORE_SUMS_H
#define DDP_CORE_SUMS_H

#include "base/status.h"
#include "comm/work.h"

#include <stddef.h>

typedef struct ddp_sums ddp_sums;

typedef struct ddp_sums_ops {
    void (*close)(ddp_sums *s);

    /* Start the sum of a piece: its gradients and run counts are final. Fails with DDP_ERR_COMM. */
    ddp_status (*start)(ddp_sums *s, size_t piece, ddp_error *err);
    /* The last sum that a piece has; the sums'. */
    ddp_work *(*last)(const ddp_sums *s, size_t piece);
    /* From here on the device finds the piece's sums (ddp_work_fence). Fails with
     * DDP_ERR_COMM. */
    ddp_status (*fence)(ddp_sums *s, size_t piece, ddp_error *err);
    /* Have they ended? Does not move data. And were all of the piece's, which have had their fence,
     * finite? The same on every rank. */
    int (*is_done)(const ddp_sums *s, size_t piece);
    int (*is_finite)(const ddp_sums *s, size_t piece);

    /* Numbers that are summed of a bucket. */
    size_t (*count)(const ddp_sums *s, size_t bucket);
} ddp_sums_ops;

/* Where a bucket may have a second sum, made of its first, and sums have memory of their own. */
typedef struct ddp_sums_rounds {
    /* A pass that syncs begins: nothing is started, and everything of the last one has landed. */
    void (*begin)(ddp_sums *s);
    /* May the next bucket's sum start? */
    int (*may_start)(const ddp_sums *s);
    /* In its place, on every rank: the bucket is not sent in this pass. */
    void (*skip)(ddp_sums *s, size_t bucket);

    /* Is there a bucket with a further sum to start, of those that are started or not? *bucket: the
     * next one. */
    int (*is_left)(const ddp_sums *s, size_t *bucket);
    /* Is it its turn, and would go_on not wait? */
    int (*may_go_on)(const ddp_sums *s);
    /* Start it, where it has one, once what it is made of has arrived. Fails with DDP_ERR_COMM. */
    ddp_status (*go_on)(ddp_sums *s, ddp_error *err);

    /* After the fence of its bucket's last sum: the gradient of table->params[i] becomes the sum
     * over ranks, and its run count, too. */
    void (*land)(ddp_sums *s, size_t i);
} ddp_sums_rounds;

/* Structs of each kind begin with this. */
struct ddp_sums {
    const ddp_sums_ops *ops;
    const ddp_sums_rounds *rounds; /* NULL: a piece has one sum, in place */
};

#endif
