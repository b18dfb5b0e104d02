/* watch/heartbeat_state.h: the struct that heartbeat*.c share. Included by them alone. */
#ifndef DDP_WATCH_HEARTBEAT_STATE_H
#define DDP_WATCH_HEARTBEAT_STATE_H

#include "watch/heartbeat.h"

/* Bytes of a link's buffer each way: one message of full length, and short ones. */
enum { DDP_LINK_BUFFER = DDP_CHANNEL_BYTES + 64 };

struct ddp_rank_link {
    int fd; /* socket of the connection; -1: there is none */
    int lost;
    size_t in_bytes, out_bytes;
    unsigned char in[DDP_LINK_BUFFER], out[DDP_LINK_BUFFER];
};

struct ddp_heartbeat {
    int size;
    ddp_listener *listener;      /* listener of rank 0; NULL: nobody is accepted any more */
    struct ddp_rank_link *links; /* on rank 0: by rank; elsewhere one only: the link to rank 0 */
    int link_count;
};

/* ---- heartbeat_state.c ---- */

/* Make a channel of `links` links, without sockets. Returns NULL if there is no memory. Close it
 * with ddp_heartbeat_close. */
ddp_heartbeat *ddp_heartbeat_new(int links);

/* Close a link's connection, if there is one. */
void ddp_heartbeat_end_link(struct ddp_rank_link *l);

/* Close the listener, on rank 0: nobody is accepted any more. */
void ddp_heartbeat_stop_listening(ddp_heartbeat *c);

/* ---- heartbeat_meet.c ---- */

/* Accept the ranks that have connected, on rank 0, and stop listening when all have. Does nothing
 * if the channel does not listen. Does not wait. */
void ddp_heartbeat_accept(ddp_heartbeat *c);

#endif
