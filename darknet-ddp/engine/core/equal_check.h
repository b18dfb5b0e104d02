/* core/equal_check.h: do all ranks have the same number? A few floats tell, in a sum that is made
 * anyway.
 *
 * A number is cut into digits of 6 bits. For each digit c a rank adds c and c * c. If, and only if,
 * all ranks have the same c, ranks * (sum of c * c) is (sum of c) * (sum of c). Up to
 * DDP_EQUAL_RANKS ranks a float holds these sums exactly, so all ranks find the same. */
#ifndef DDP_CORE_EQUAL_CHECK_H
#define DDP_CORE_EQUAL_CHECK_H

#include <stdint.h>

/* DDP_EQUAL_DIGITS: digits of a number. DDP_EQUAL_FLOATS: floats that a rank adds to the sum.
 * DDP_EQUAL_RANKS: most ranks. */
enum { DDP_EQUAL_DIGITS = 6, DDP_EQUAL_FLOATS = 2 * DDP_EQUAL_DIGITS, DDP_EQUAL_RANKS = 4096 };

/* Write to `sent` what this rank adds to the sum. `number`, of 64 bits, is hashed to 36.
 * Numbers that differ in one bit never get the same digits; others do by a chance of 1 in 2^36.
 */
void ddp_equal_check_write(float sent[DDP_EQUAL_FLOATS], uint64_t number);

/* Return 1 if all ranks wrote the digits of the same number, else 0. sums[i]: sent[i] summed over
 * ranks. ranks: how many ranks wrote, at most DDP_EQUAL_RANKS. */
int ddp_equal_check_read(const float sums[DDP_EQUAL_FLOATS], int ranks);

#endif
