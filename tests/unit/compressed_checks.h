/* Checks that hold for any compression (compressed.h), on ranks that are threads: tests of
 * cmocka. */
#ifndef DDP_TESTS_UNIT_COMPRESSED_CHECKS_H
#define DDP_TESTS_UNIT_COMPRESSED_CHECKS_H

#include "compressed.h"

/* Check sums and errors against net->define, on 2 to COMPRESSED_RANKS ranks, for several steps.
 * They must have the same bits with any buckets, and whether or not ranks know which layers run.
 * Sums, and what all ranks have alike, must have the same bits on all. */
void compressed_is_its_definition(const struct compressed_net *net);

/* Check that a dropped step leaves gradients at zero, and errors and other state as they were. So
 * must a step with a number that is not finite, which all ranks see. */
void compressed_drops_leave_nothing(const struct compressed_net *net);

#endif
