/* algorithms/topk/top_k.h: selects the elements of an array that are largest in magnitude, and
 * writes them as floats that can be sent: their values and their indices.
 *
 * A float holds every whole number up to 2^24, and not beyond. So a longer array is cut into
 * sections of at most 2^24 elements, and the largest of each section are selected. The numbers are
 * the values of section 0, their indices in the section, the values of section 1, and so on. */
#ifndef DDP_ALGORITHMS_TOPK_TOP_K_H
#define DDP_ALGORITHMS_TOPK_TOP_K_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DDP_TOP_K_SECTION = 1 << 24 };

typedef struct ddp_top_k_section {
    size_t from, count; /* index of the section's first element, and how many elements it has */
    size_t kept;        /* how many of the section's elements are selected */
    size_t at;          /* index of the section's first number among the numbers of all sections */
} ddp_top_k_section;

/* Advance *s to the next section of an array of `count` elements, and return 1; returns 0 if there
 * is no more. A zeroed *s becomes the first section. percent: how many percent of each section's
 * elements are selected. */
int ddp_top_k_next_section(ddp_top_k_section *s, size_t count, double percent);

/* Return how many numbers ddp_top_k_select writes for `count` elements: a value and an index for
 * each selected element. Of each section, `percent` (above 0) of the elements are selected, rounded
 * up. */
size_t ddp_top_k_numbers(size_t count, double percent);

/* Write the values and indices of the largest elements of x[0..count) to
 * out[0..ddp_top_k_numbers(count, percent)). Elements keep their order in x. Of equal ones the
 * first are selected. NaN is larger than any number. */
void ddp_top_k_select(float *out, const float *x, size_t count, double percent);

/* Add each value in `selected` to x[0..count) at its index. ddp_top_k_select has written
 * `selected`, with the same count and percent. A number that is no index is skipped. */
void ddp_top_k_add(float *x, const float *selected, size_t count, double percent);

/* Set x[0..count) to 0 at each index in `selected`, which ddp_top_k_select has written with the
 * same count and percent. A number that is no index is skipped. */
void ddp_top_k_clear(float *x, const float *selected, size_t count, double percent);

#ifdef __cplusplus
}
#endif

#endif
