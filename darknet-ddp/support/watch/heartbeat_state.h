/* watch/heartbeat_state.h: what heartbeat*.c share. Included by them alone. */
#ifndef DDP_WATCH_HEARTBEAT_STATE_H
#define DDP_WATCH_HEARTBEAT_STATE_H

#include "watch/heartbeat.h"

enum { DDP_LINK_BUFFER = DDP_CHANNEL_BYTES + 64 };

struct ddp_rank_link {
    int fd; /* -1: none */
    int lost;
    size_t in_bytes, out_bytes;
    unsigned char in[DDP_LINK_BUFFER], out[DDP_LINK_BUFFER];
};

struct ddp_heartbeat {
    int size;
    ddp_listener *listener;      /* rank 0's; NULL: it lets nobody in any more */
    struct ddp_rank_link *links; /* by rank; on other ranks than 0, that of rank 0 alone */
    int link_count;
};

/* ---- heartbeat_state.c ---- */

/* Without sockets. NULL: no memory. Close it by ddp_heartbeat_close. */
ddp_heartbeat *ddp_heartbeat_new(int links);

void ddp_heartbeat_end_link(struct ddp_rank_link *l);

/* Rank 0 lets nobody in any more. */
void ddp_heartbeat_stop_listening(ddp_heartbeat *c);

/* ---- heartbeat_meet.c ---- */

/* Rank 0: accept the ranks that have connected, and stop listening once all have. Does nothing if
 * the channel listens no more. Does not block. */
void ddp_heartbeat_accept(ddp_heartbeat *c);

#endif
