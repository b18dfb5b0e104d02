/* Channels of heartbeats between objects of one process. */
#ifndef DDP_TESTS_UNIT_HEARTBEATS_H
#define DDP_TESTS_UNIT_HEARTBEATS_H

#include "watch/heartbeat.h"

/* A listener of ddp_heartbeat_poll, which appends a message to the text at ctx, of 256 bytes, as
 * "RANK:KIND:BYTES ". */
void heartbeats_note(void *ctx, int rank, int kind, const void *bytes, size_t count);

/* Poll c ten times, and append each message to text as heartbeats_note does. */
void heartbeats_poll(ddp_heartbeat *c, char *text);

/* Join the channel as this rank; a failure fails the test. */
ddp_heartbeat *heartbeats_join(const ddp_heartbeat_invitation *inv, int rank);

#endif
