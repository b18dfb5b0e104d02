/* layers/images/pinned_batch.h: collects the samples of a step in one array, so that a mini-batch
 * is read in place. Loader threads put their samples into it. Memory is kept for later steps: a run
 * has two arrays, one in training, one being loaded. With a GPU the memory is pinned, if the
 * system allows it. Any thread may call any function. */
#ifndef PINNED_BATCH_H
#define PINNED_BATCH_H
#include "darknet.h"

typedef struct gathered gathered;

/* Return a new collection for `rows` samples. The first gather_rows decides the size of a sample.
 * End the collection with gather_end. */
gathered *gather_begin(int rows);

/* Move the pictures and labels of d into the array, as samples `first`, first + 1, ... The rows of
 * d then point into the array; their old memory is freed. All samples of a step have one size. If d
 * has no rows, do nothing. */
void gather_rows(gathered *g, int first, data d);

/* End the collection, and free g. *d, which must have the rows of all samples, then owns the array:
 * free_data gives it back. */
void gather_end(gathered *g, data *d);

/* Give back the array of a step's samples, for a later step; free_data calls it. Does nothing for
 * NULL or other memory. */
void give_batch_memory(float *memory);

/* Return rows first to first + n - 1 of m as one array, which begins at a multiple of 64 bytes: a
 * layer's results may depend on that. If the rows lie so already, return a pointer to the first of
 * them. Else copy them to `copy`, and return that.
 *   n      at least 1
 *   copy   room for n*m.cols floats at a multiple of 64 bytes; returned if they are copied */
float *batch_rows(matrix m, int first, int n, float *copy);

#endif
