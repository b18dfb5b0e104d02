/* Sums of the reference's values (../reference_sum.h), as ranks of a test make them. */
#ifndef DDP_TESTS_UNIT_SUMS_H
#define DDP_TESTS_UNIT_SUMS_H

#include "comm/work.h"
#include "ranks.h"

struct sum {
    int number; /* the reference's */
    size_t count;
    ddp_wire wire;
    ddp_work *work;
    float *buf;
    float *memory; /* the group's, in which buf is, but on some ranks; or NULL */
};

/* number, count and wire are set. Every fourth sum is in the group's memory, at a place of each
 * rank's own, but on every third rank; the others, and these ranks', are in the program's. */
void sum_open(struct rank *me, struct sum *s);
void sum_close(struct rank *me, struct sum *s);

/* Put this rank's values in, and start. */
void sum_start(struct rank *me, struct sum *s);

/* All ranks: it has the reference's bits, and is finite. */
void sum_expect(struct rank *me, const struct sum *s);

/* All of them twice, in flight together beside a barrier: ranks poll at places of their own, and
 * wait in another order than they start. */
void sums_together(struct rank *me, struct sum *sums, int count);

#endif
