/* A channel's memory and sockets. */
#include "watch/heartbeat_state.h"

#include <stdlib.h>
#include <unistd.h>

ddp_heartbeat *ddp_heartbeat_new(int links, int guests)
{
    ddp_heartbeat *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->links = calloc((size_t)links, sizeof *c->links);
    c->guests = calloc((size_t)guests + 1, sizeof *c->guests);
    if (!c->links || !c->guests) {
        ddp_heartbeat_close(c);
        return NULL;
    }
    c->link_count = links;
    for (int i = 0; i < links; i++)
        c->links[i].fd = -1;
    c->guest_count = guests;
    for (int i = 0; i < guests; i++)
        c->guests[i].fd = -1;
    return c;
}

void ddp_heartbeat_end_guest(struct ddp_guest *g)
{
    if (g->fd >= 0)
        (void)close(g->fd);
    g->fd = -1;
}

void ddp_heartbeat_stop_listening(ddp_heartbeat *c)
{
    for (int i = 0; i < c->listening_count; i++)
        (void)close(c->listening[i]);
    c->listening_count = 0;
    for (int i = 0; i < c->guest_count; i++)
        ddp_heartbeat_end_guest(&c->guests[i]);
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
    free(c->guests);
    free(c);
}
