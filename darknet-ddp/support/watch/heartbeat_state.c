/* Allocates a channel of the watch (watch/heartbeat.h), and frees its memory and sockets. */
#include "watch/heartbeat_state.h"

#include <stdlib.h>
#include <unistd.h>

ddp_heartbeat *ddp_heartbeat_new(int links)
{
    ddp_heartbeat *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->links = calloc((size_t)links, sizeof *c->links);
    if (!c->links) {
        ddp_heartbeat_close(c);
        return NULL;
    }
    c->link_count = links;
    for (int i = 0; i < links; i++)
        c->links[i].fd = -1;
    return c;
}

void ddp_heartbeat_stop_listening(ddp_heartbeat *c)
{
    ddp_listener_close(c->listener);
    c->listener = NULL;
}

void ddp_heartbeat_end_link(struct ddp_rank_link *l)
{
    if (l->fd >= 0)
        (void)close(l->fd);
    l->fd = -1;
    l->in_bytes = l->out_bytes = 0;
}

void ddp_heartbeat_close(ddp_heartbeat *c)
{
    if (!c)
        return;
    ddp_heartbeat_stop_listening(c);
    for (int i = 0; i < c->link_count; i++)
        ddp_heartbeat_end_link(&c->links[i]);
    free(c->links);
    free(c);
}
