/* algorithms/topk/top_k.h: the elements of an array that are largest in magnitude, and where they
 * are, as floats that a sum over ranks can carry.
 *
 * A float tells whole numbers apart up to 2^24. So a longer array is taken in sections of that many
 * elements, each with its own largest. The numbers are the values of section 0, the places in it,
 * the values of section 1, and so on. */
#ifndef DDP_ALGORITHMS_TOPK_TOP_K_H
#define DDP_ALGORITHMS_TOPK_TOP_K_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DDP_TOP_K_SECTION = 1 << 24 };

typedef struct ddp_top_k_section {
    size_t from, count; /* index of the section's first element, and how many elements it has */
    size_t kept;        /* how many of the section's elements are sent, the largest */
    size_t at; /* index of the section's first number among all that are sent: `kept` values, then
                  their `kept` indices in the section, from 0 */
} ddp_top_k_section;

/* Advance *s to the next section of an array of `count` elements, and return 1; a zeroed *s becomes
 * the first. Returns 0 if there is no more. percent: how many percent of each section's elements
 * are taken. */
int ddp_top_k_next_section(ddp_top_k_section *s, size_t count, double percent);

/* Return how many numbers tell the largest of `count` elements: a value and an index for each. Of
 * each section `percent`, above 0, of the elements are taken, and at least one. */
size_t ddp_top_k_numbers(size_t count, double percent);

/* Write the elements of x[0..count) that are largest in magnitude, and their indices, to
 * out[0..ddp_top_k_numbers). Takes `percent` of each section's elements. They keep their order in
 * x. Of equal ones the first are taken. NaN is larger than any number. */
void ddp_top_k_select(float *out, const float *x, size_t count, double percent);

/* Add each value in `told` to x at its place, in order; told is as ddp_top_k_select writes it for
 * x[0..count). A number that is no place, as in a sum that is not finite, is skipped. */
void ddp_top_k_add_told(float *x, const float *told, size_t count, double percent);

/* Set x to 0 at each place in `told`, with the same arguments as ddp_top_k_add_told. */
void ddp_top_k_clear_told(float *x, const float *told, size_t count, double percent);

#ifdef __cplusplus
}
#endif

#endif
