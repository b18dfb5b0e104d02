/* core/top_k.h: the elements of an array that are largest in magnitude, and where they are, as
 * floats that a sum over ranks can carry.
 *
 * A float tells whole numbers apart up to 2^24, so a longer array is taken in sections of that
 * many, each with its own share of elements: values of section 0, places in it, values of section
 * 1, and so on.
 */
#ifndef DDP_CORE_TOP_K_H
#define DDP_CORE_TOP_K_H

#include <stddef.h>

/* Numbers that tell what is taken of `count` elements, a value and a place each: so many percent,
 * above 0, of each section, and at least one of it. */
size_t ddp_top_k_numbers(size_t count, double percent);

/* out[0..ddp_top_k_numbers) tells the largest of x[0..count); of equal ones the first. What is no
 * number is larger than any. */
void ddp_top_k_take(float *out, const float *x, size_t count, double percent);

/* x[place] += value, of each that `told` tells, in order. */
void ddp_top_k_add(float *x, const float *told, size_t count, double percent);

/* x[place] = 0. */
void ddp_top_k_clear(float *x, const float *told, size_t count, double percent);

#endif
