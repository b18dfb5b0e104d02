/* Adds up gradients in the order in which ranks do (comm/group.h). */
#ifndef PARITY_RANK_SUM_H
#define PARITY_RANK_SUM_H

#include "core/params.h"
#include "device/float16.h"

typedef struct rank_sum rank_sum;

rank_sum *rank_sum_open(const ddp_param_table *table, ddp_wire wire);
void rank_sum_close(rank_sum *t);

/* Take the gradients of the next rank out of the network and leave zeros. */
void rank_sum_add_rank(rank_sum *t);

/* Put the sum of all ranks into the network, and start again. */
void rank_sum_finish(rank_sum *t);

#endif
