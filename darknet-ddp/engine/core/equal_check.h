/* core/equal_check.h: checks that all ranks have the same number, by a few floats that are added to
 * an allreduce of other numbers.
 *
 * Each rank hashes its number to 36 bits, cuts these into digits c of 6 bits, and sends c and c * c
 * of each. If, and only if, all ranks have the same c, ranks * (sum of c * c) is the square of (sum
 * of c). Up to DDP_EQUAL_RANKS ranks floats hold these sums exactly: all get the same answer. */
#ifndef DDP_CORE_EQUAL_CHECK_H
#define DDP_CORE_EQUAL_CHECK_H

#include <stdint.h>

/* DDP_EQUAL_DIGITS: digits of a hash. DDP_EQUAL_FLOATS: floats that a rank sends.
 * DDP_EQUAL_RANKS: most ranks that may be compared. */
enum { DDP_EQUAL_DIGITS = 6, DDP_EQUAL_FLOATS = 2 * DDP_EQUAL_DIGITS, DDP_EQUAL_RANKS = 4096 };

/* Write the floats that this rank sends for `number` to `sent`. The number is hashed to 36 bits:
 * numbers that differ in one bit never look equal, random ones by a chance of 1 in 2^36. */
void ddp_equal_check_write(float sent[DDP_EQUAL_FLOATS], uint64_t number);

/* Return 1 if all ranks sent the same number, else 0. sums[i]: the sum of sent[i] over ranks.
 * ranks: how many ranks sent, at most DDP_EQUAL_RANKS. */
int ddp_equal_check_read(const float sums[DDP_EQUAL_FLOATS], int ranks);

#endif
