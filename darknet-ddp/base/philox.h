/* base/philox.h: Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and
 * Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
 */
#ifndef DDP_BASE_PHILOX_H
#define DDP_BASE_PHILOX_H

#include <stdint.h>

/* 128 random bits that depend on counter and key alone; for one key, counters and
 * blocks correspond one to one. out may be counter. Any thread. */
void ddp_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
