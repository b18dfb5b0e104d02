/* layers/images/pinned_batch.h: one array for all samples of a step, so that a mini-batch is read
 * where loaders have put it. Memory is kept for later steps: a run has two arrays, one in training
 * while the other is loaded. If a GPU trains, the memory is pinned. Any thread may call any
 * function here. */
#ifndef PINNED_BATCH_H
#define PINNED_BATCH_H
#include "darknet.h"

typedef struct gathered gathered;

/* Return a new collection for `rows` samples; end it with gather_end. The first gather_rows decides
 * how large a sample is. */
gathered *gather_begin(int rows);

/* Move the rows of d, pictures and labels, into the array as samples `first`, first + 1, ... d's
 * pointers then point there, and its own rows are freed. All samples of a step have the same size.
 * If d has no rows, does nothing. */
void gather_rows(gathered *g, int first, data d);

/* End the collection, and free g. *d must have the rows of all samples, and owns their memory until
 * free_data. */
void gather_end(gathered *g, data *d);

/* Give back the memory of a step's samples for a later step, as free_data does. NULL, or memory
 * from elsewhere, does nothing. */
void give_batch_memory(float *memory);

/* Return rows first .. first + n - 1 of m as one array; n is at least 1. If the rows lie one behind
 * the other from the start of a cache line on, the result is their own memory. Else they are copied
 * to `copy` (n*m.cols floats), which is returned. `copy` must begin at a cache line (64 bytes),
 * too, since a layer's results may depend on where its input begins. */
float *batch_rows(matrix m, int first, int n, float *copy);

#endif
