/* Sends and receives the watch's messages over connections between rank 0 and each other rank.
 * heartbeat_meet.c makes these connections. */
#include "watch/heartbeat_state.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The bytes before each message. */
struct head {
    uint32_t bytes;
    int32_t kind;
};

static void lose_link(struct ddp_rank_link *l)
{
    ddp_heartbeat_end_link(l);
    l->lost = 1;
}

static struct ddp_rank_link *link_of(const ddp_heartbeat *c, int rank)
{
    return rank >= 0 && rank < c->link_count ? &c->links[rank] : NULL;
}

static void flush(struct ddp_rank_link *l)
{
    while (l->fd >= 0 && l->out_bytes > 0) {
        ssize_t n = send(l->fd, l->out, l->out_bytes, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            lose_link(l);
            return;
        }
        l->out_bytes -= (size_t)n;
        memmove(l->out, l->out + n, l->out_bytes);
    }
}

void ddp_heartbeat_send(ddp_heartbeat *c, int rank, int kind, const void *bytes, size_t count)
{
    struct ddp_rank_link *l = link_of(c, rank);
    const struct head head = {.bytes = (uint32_t)count, .kind = kind};

    if (!l || l->fd < 0 || count > DDP_CHANNEL_BYTES
        || l->out_bytes + sizeof head + count > sizeof l->out)
        return;
    memcpy(l->out + l->out_bytes, &head, sizeof head);
    if (count > 0)
        memcpy(l->out + l->out_bytes + sizeof head, bytes, count);
    l->out_bytes += sizeof head + count;
    flush(l);
}

/* Call the handler for the whole messages at the start of what has come. */
static void take_messages(struct ddp_rank_link *l, int rank, ddp_heartbeat_handler handler,
                          void *ctx)
{
    struct head head;
    size_t done = 0;

    while (l->in_bytes - done >= sizeof head) {
        memcpy(&head, l->in + done, sizeof head);
        if (head.bytes > DDP_CHANNEL_BYTES) {
            lose_link(l);
            return;
        }
        if (l->in_bytes - done < sizeof head + head.bytes)
            break;
        handler(ctx, rank, head.kind, l->in + done + sizeof head, head.bytes);
        done += sizeof head + head.bytes;
    }
    l->in_bytes -= done;
    memmove(l->in, l->in + done, l->in_bytes);
}

static void receive(struct ddp_rank_link *l, int rank, ddp_heartbeat_handler handler, void *ctx)
{
    while (l->fd >= 0) {
        ssize_t n = recv(l->fd, l->in + l->in_bytes, sizeof l->in - l->in_bytes, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            lose_link(l);
            return;
        }
        l->in_bytes += (size_t)n;
        take_messages(l, rank, handler, ctx);
    }
}

static void wait_for_something(ddp_heartbeat *c, int wait_ms)
{
    size_t count =
        (size_t)c->link_count + (size_t)(c->listener ? ddp_listener_most_fds(c->listener) : 0);
    struct pollfd *fds = calloc(count, sizeof *fds);
    nfds_t n = 0;

    if (!fds) {
        (void)poll(NULL, 0, wait_ms);
        return;
    }
    for (int i = 0; i < c->link_count; i++)
        if (c->links[i].fd >= 0)
            fds[n++] = (struct pollfd){
                .fd = c->links[i].fd,
                .events = (short)(POLLIN | (c->links[i].out_bytes > 0 ? POLLOUT : 0))};
    if (c->listener)
        n += (nfds_t)ddp_listener_put_fds(c->listener, fds + n);
    (void)poll(fds, n, wait_ms);
    free(fds);
}

void ddp_heartbeat_poll(ddp_heartbeat *c, int wait_ms, ddp_heartbeat_handler handler, void *ctx)
{
    wait_for_something(c, wait_ms);
    ddp_heartbeat_accept(c);
    for (int r = 0; r < c->link_count; r++) {
        flush(&c->links[r]);
        receive(&c->links[r], r, handler, ctx);
    }
}

ddp_link ddp_heartbeat_link(const ddp_heartbeat *c, int rank)
{
    const struct ddp_rank_link *l = link_of(c, rank);

    if (!l || l->lost)
        return DDP_LINK_LOST;
    return l->fd >= 0 ? DDP_LINK_OPEN : DDP_LINK_AWAITED;
}
