/* core/equal_check.h: do all ranks have the same number? Told by a few floats that travel in a sum
 * which is made anyway.
 *
 * A number is cut into pieces of 6 bits; of each piece c a rank adds c and c * c. All ranks have
 * the same c exactly where ranks * (sum of c * c) is (sum of c) * (sum of c), and every rank finds
 * that alike. Up to DDP_EQUAL_RANKS ranks all of these sums are whole numbers that a float holds.
 */
#ifndef DDP_CORE_EQUAL_CHECK_H
#define DDP_CORE_EQUAL_CHECK_H

#include <stdint.h>

enum { DDP_EQUAL_PIECES = 6, DDP_EQUAL_FLOATS = 2 * DDP_EQUAL_PIECES, DDP_EQUAL_RANKS = 4096 };

/* What this rank adds. Numbers that differ in one bit give other pieces; others, with one chance in
 * 2^36, the same. */
void ddp_equal_check_write(float sent[DDP_EQUAL_FLOATS], uint64_t number);

/* Did all ranks, at most DDP_EQUAL_RANKS, write the same? sums: over all of them. */
int ddp_equal_check_read(const float sums[DDP_EQUAL_FLOATS], int ranks);

#endif
