/* algorithms/topk/top_k.h: the elements of an array that are largest in magnitude, and where they
 * are, as floats that a sum over ranks can carry.
 *
 * A float tells whole numbers apart up to 2^24. So a longer array is taken in sections of that many
 * elements, each with its own largest. The numbers are the values of section 0, the places in it,
 * the values of section 1, and so on.
 */
#ifndef DDP_ALGORITHMS_TOPK_TOP_K_H
#define DDP_ALGORITHMS_TOPK_TOP_K_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DDP_TOP_K_SECTION = 1 << 24 };

typedef struct ddp_top_k_section {
    size_t from, count; /* its elements in the array */
    size_t kept;        /* how many of them are told */
    size_t at;          /* where the numbers that tell of it begin: values, then places */
} ddp_top_k_section;

/* Make of a zeroed *s the first section of an array of `count` elements, and of each the one behind
 * it. Returns 0 where there is none. */
int ddp_top_k_next_section(ddp_top_k_section *s, size_t count, double percent);

/* Numbers that tell what is taken of `count` elements, a value and a place each: so many percent,
 * above 0, of each section, and at least one of it. */
size_t ddp_top_k_numbers(size_t count, double percent);

/* out[0..ddp_top_k_numbers) tells the largest of x[0..count); of equal ones the first. What is no
 * number is larger than any. */
void ddp_top_k_select(float *out, const float *x, size_t count, double percent);

/* x[place] += value, of each that `told` tells, in order. A place that is none, in a sum that is
 * not finite, is passed over. */
void ddp_top_k_add_told(float *x, const float *told, size_t count, double percent);

/* x[place] = 0, in the same way. */
void ddp_top_k_clear_told(float *x, const float *told, size_t count, double percent);

#ifdef __cplusplus
}
#endif

#endif
