/* watch/heartbeat_state.h: the struct of a channel (watch/heartbeat.h). Only heartbeat.c,
 * heartbeat_meet.c and heartbeat_state.c include it. */
#ifndef DDP_WATCH_HEARTBEAT_STATE_H
#define DDP_WATCH_HEARTBEAT_STATE_H

#include "watch/heartbeat.h"

/* Bytes of a connection's buffer: room for a message of full length and some short ones. */
enum { DDP_LINK_BUFFER = DDP_CHANNEL_BYTES + 64 };

struct ddp_rank_link {
    int fd;                             /* socket of the connection; -1: there is none */
    int lost;                           /* 1: the connection has ended */
    size_t in_bytes, out_bytes;         /* bytes in use of `in` and `out` */
    unsigned char in[DDP_LINK_BUFFER];  /* received bytes of messages that are incomplete */
    unsigned char out[DDP_LINK_BUFFER]; /* bytes that the system has not taken yet */
};

struct ddp_heartbeat {
    ddp_listener *listener;      /* rank 0's, until all ranks have connected; else NULL */
    struct ddp_rank_link *links; /* links[r]: link with rank r; on rank 0 links[0] is unused */
    int link_count;              /* entries of links: on rank 0 as many as ranks; else 1 */
};

/* ---- heartbeat_state.c ---- */

/* Make a channel of `links` links, without sockets. Returns NULL if there is no memory. Close it
 * with ddp_heartbeat_close. */
ddp_heartbeat *ddp_heartbeat_new(int links);

/* Close the connection of a link, if there is one, and empty the link's buffers. `lost` stays. */
void ddp_heartbeat_end_link(struct ddp_rank_link *l);

/* Close the listener, if there is one: no more ranks can join. */
void ddp_heartbeat_stop_listening(ddp_heartbeat *c);

/* ---- heartbeat_meet.c ---- */

/* Accept the ranks that have connected, and stop listening when all have. Does not wait. Does
 * nothing without a listener. */
void ddp_heartbeat_accept(ddp_heartbeat *c);

#endif
