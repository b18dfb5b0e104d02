/* The arrays of a network's parameters, on the table's device: copies, hashes, distances.
 * Copies are host memory, which the caller frees. */
#ifndef PARITY_ARRAYS_H
#define PARITY_ARRAYS_H

#include "core/params.h"

#include <stdint.h>

enum array_kind { VALUES, GRADIENTS };

/* Read one array, that of parameter i, into its place in a copy of all arrays. */
void array_read(const ddp_param_table *table, size_t i, enum array_kind kind, float *copy);

/* Copy every array, one after the other in table order. arrays_read writes to an earlier copy. */
float *arrays_copy(const ddp_param_table *table, enum array_kind kind);
void arrays_read(const ddp_param_table *table, enum array_kind kind, float *copy);

/* Write a copy to the network's own memory. */
void arrays_restore(const ddp_param_table *table, enum array_kind kind, const float *copy);

/* Return where parameter i starts in a copy. */
size_t array_offset(const ddp_param_table *table, size_t i);

/* Return a hash of the values, and of what the optimizer remembers, of layers first to last. */
uint64_t arrays_hash(const ddp_param_table *table, int first, int last);

typedef struct distance {
    double worst; /* largest |a - b| / |b| of one array; not a number counts as infinite */
    size_t param; /* index of the parameter with the distance `worst` */
} distance;

/* Return the distance of two copies, by Euclidean norms. |b| counts as at least `floor` times the
 * largest |b| of the same layer's arrays. */
distance arrays_distance(const ddp_param_table *table, const float *a, const float *b,
                         double floor);

/* Copy BatchNorm's running statistics, one array after the other in table order; _restore writes a
 * copy back. */
float *statistics_copy(const ddp_param_table *table);
void statistics_restore(const ddp_param_table *table, const float *copy);

/* Return the largest |a - b| / |b| of one of these arrays; 0 if there are none. *buffer: which it
 * is. */
double statistics_distance(const ddp_param_table *table, const float *a, const float *b,
                           size_t *buffer);

/* Subtract b from a. */
void arrays_subtract(const ddp_param_table *table, float *a, const float *b);

/* Return |a - b| / |b| of two whole copies, by Euclidean norms. */
double arrays_change(const ddp_param_table *table, const float *a, const float *b);

#endif
