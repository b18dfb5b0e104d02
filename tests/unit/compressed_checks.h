/* What holds of any compression (compressed.h), on ranks that are threads: tests of cmocka. */
#ifndef DDP_TESTS_UNIT_COMPRESSED_CHECKS_H
#define DDP_TESTS_UNIT_COMPRESSED_CHECKS_H

#include "compressed.h"

/* On 2 to COMPRESSED_RANKS ranks, for several steps: sums and errors are those of net->define; they
 * have the same bits whatever the buckets and whoever knows which layers run, and sums, and what is
 * the same on all ranks, the same bits on all. */
void compressed_is_its_definition(const struct compressed_net *net);

/* A step that is dropped, and one with a number that is none, which all ranks see, leave no
 * gradient, and errors and what else is kept as they were. */
void compressed_drops_leave_nothing(const struct compressed_net *net);

#endif
