#ifndef PINNED_BATCH_H
#define PINNED_BATCH_H
#include "darknet.h"

/*
 * The samples of a step one behind another, so that a mini-batch is read where its loaders
 * have put it. The memory is kept for the next step: a run has that of two, of which one
 * trains and one is loaded. Where a GPU trains it is pinned. Any thread may call any of these.
 */
typedef struct gathered gathered;

/* For so many samples. How large they are says the first one that is put there. */
gathered *gather_begin(int rows);

/* Move the rows of d, pictures and labels, to these places: from the first-th on. */
void gather_rows(gathered *g, int first, data d);

/* d has all the rows: it owns their memory, until free_data. Frees g. */
void gather_end(gathered *g, data *d);

void give_batch_memory(float *memory);

/* Return the n rows of a mini-batch, from the first-th on, as one array. This is the rows' own
   memory if they lie one behind the other from the start of a cache line on. Else they are copied
   to copy, which begins at such a start, too. So a layer's results do not depend on where the rows
   lie. */
float *batch_rows(matrix m, int first, int n, float *copy);

#endif
