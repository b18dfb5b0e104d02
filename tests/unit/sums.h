/* Sums of the reference's values (../reference_sum.h), as ranks of a test make them. */
#ifndef DDP_TESTS_UNIT_SUMS_H
#define DDP_TESTS_UNIT_SUMS_H

#include "comm/work.h"
#include "ranks.h"

struct sum {
    int number; /* number of the sum, by which reference_value makes its values */
    size_t count;
    ddp_wire wire;
    ddp_work *work;
    float *buf;
    float *memory; /* memory of the group in which buf lies; NULL: buf is the program's own */
};

/* Open a sum; number, count and wire are set. buf is in the program's memory. Exception: with a
 * number that 4 divides, it is in the group's memory on two of three ranks, at a place of each
 * rank's own. */
void sum_open(struct rank *me, struct sum *s);
void sum_close(struct rank *me, struct sum *s);

/* Put this rank's values in, and start the sum. */
void sum_start(struct rank *me, struct sum *s);

/* Check, on all ranks, that the sum has the reference's bits and is finite. */
void sum_expect(struct rank *me, const struct sum *s);

/* Make all sums twice, in flight together beside a barrier. Ranks poll at places of their own, and
 * wait in another order than they start. */
void sums_together(struct rank *me, struct sum *sums, int count);

#endif
