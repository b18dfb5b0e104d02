#include "base/listener.h"

#include "base/clock.h"
#include "base/port_range.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const int64_t pending_ns = 5 * INT64_C(1000000000);

struct pending {
    int fd; /* -1: the place is free */
    int64_t since_ns;
    size_t bytes;
    unsigned char said[sizeof(ddp_handshake)];
};

struct ddp_listener {
    ddp_key key;
    int listening[DDP_LISTENER_SOCKETS], listening_count;
    int pending_count;
    struct pending pending[];
};

/* ---- keys ---- */

void ddp_key_draw(ddp_key *key)
{
    if (getrandom(key, sizeof *key, 0) == (ssize_t)sizeof *key)
        return;
    for (size_t i = 0; i < sizeof key->bytes; i++)
        key->bytes[i] = (unsigned char)((uint64_t)ddp_clock_ns() >> (i % 8 * 8));
}

/* Compare two keys, in the same time wherever they differ. */
static int same_key(const ddp_key *a, const ddp_key *b)
{
    unsigned char differs = 0;

    for (size_t i = 0; i < sizeof a->bytes; i++)
        differs |= a->bytes[i] ^ b->bytes[i];
    return differs == 0;
}

/* ---- the listener ---- */

ddp_status ddp_listener_open(ddp_listener **out, const ddp_key *key, int pending, ddp_error *err)
{
    ddp_listener *d = calloc(1, sizeof *d + (size_t)pending * sizeof *d->pending);

    *out = d;
    if (!d)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d connections", pending);
    d->key = *key;
    d->pending_count = pending;
    for (int i = 0; i < pending; i++)
        d->pending[i].fd = -1;
    return DDP_OK;
}

/* Listen at `at` and set its port. Returns a socket; -1 with errno set if that fails. */
static int listen_at(ddp_net_address *at)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int fd = socket(at->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;

    if (fd < 0)
        return -1;
    if (bind(fd, (void *)&address, ddp_net_address_sockaddr(at, &address)) == 0
        && listen(fd, SOMAXCONN) == 0 && getsockname(fd, (void *)&address, &size) == 0) {
        *at = ddp_net_address_of((void *)&address);
        return fd;
    }
    error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

/* Try the ports of the range, the last first: Open MPI takes the first ones. */
static int listen_in(ddp_port_range range, ddp_net_address *at)
{
    int fd = -1;

    for (int i = range.count - 1; i >= 0 && fd < 0 && (i == range.count - 1 || errno == EADDRINUSE);
         i--) {
        at->port = htons((uint16_t)(range.first + i));
        fd = listen_at(at);
    }
    return fd;
}

ddp_status ddp_listener_bind(ddp_listener *d, ddp_net_address *at, ddp_error *err)
{
    const ddp_port_range range = ddp_port_range_of_ranks();
    char text[DDP_ADDRESS_TEXT];
    int fd = -1;

    at->port = 0;
    errno = ENOSPC;
    if (d->listening_count < DDP_LISTENER_SOCKETS)
        fd = range.count > 0 ? listen_in(range, at) : listen_at(at);
    if (fd >= 0) {
        d->listening[d->listening_count++] = fd;
        return DDP_OK;
    }
    ddp_net_address_text(at, text);
    return ddp_fail(err, DDP_ERR_IO, "cannot listen on %s: %s", text, strerror(errno));
}

int ddp_listener_most_fds(const ddp_listener *d)
{
    return d->pending_count + DDP_LISTENER_SOCKETS;
}

int ddp_listener_put_fds(const ddp_listener *d, struct pollfd *fds)
{
    int n = 0;

    for (int i = 0; i < d->listening_count; i++)
        fds[n++] = (struct pollfd){.fd = d->listening[i], .events = POLLIN};
    for (int i = 0; i < d->pending_count; i++)
        if (d->pending[i].fd >= 0)
            fds[n++] = (struct pollfd){.fd = d->pending[i].fd, .events = POLLIN};
    return n;
}

static void end_pending(struct pending *g)
{
    if (g->fd >= 0)
        (void)close(g->fd);
    g->fd = -1;
}

/* Return a free place, or the place of the oldest pending connection, which is closed. */
static struct pending *make_room(ddp_listener *d)
{
    struct pending *oldest = &d->pending[0];

    for (int i = 0; i < d->pending_count; i++) {
        if (d->pending[i].fd < 0)
            return &d->pending[i];
        if (d->pending[i].since_ns < oldest->since_ns)
            oldest = &d->pending[i];
    }
    end_pending(oldest);
    return oldest;
}

/* Read from a pending connection. Returns 1 if it has shown the key. */
static int hear(const ddp_listener *d, struct pending *g, ddp_handshake *handshake)
{
    ssize_t n = recv(g->fd, g->said + g->bytes, sizeof *handshake - g->bytes, 0);

    if (n > 0)
        g->bytes += (size_t)n;
    if (g->bytes < sizeof *handshake) {
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)
            || ddp_clock_ns() - g->since_ns > pending_ns)
            end_pending(g);
        return 0;
    }
    memcpy(handshake, g->said, sizeof *handshake);
    if (same_key(&handshake->key, &d->key))
        return 1;
    end_pending(g);
    return 0;
}

static void set_no_delay(int fd)
{
    int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int hand_over(struct pending *g, const ddp_handshake *handshake, int32_t *who)
{
    int fd = g->fd;

    g->fd = -1;
    *who = handshake->who;
    set_no_delay(fd);
    return fd;
}

int ddp_listener_accept(ddp_listener *d, int32_t *who)
{
    ddp_handshake handshake;

    for (int i = 0; i < d->pending_count; i++)
        if (d->pending[i].fd >= 0 && hear(d, &d->pending[i], &handshake))
            return hand_over(&d->pending[i], &handshake, who);
    for (int i = 0; i < d->listening_count; i++)
        for (;;) {
            int fd = accept4(d->listening[i], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            struct pending *g;

            if (fd < 0)
                break;
            g = make_room(d);
            *g = (struct pending){.fd = fd, .since_ns = ddp_clock_ns()};
            if (hear(d, g, &handshake))
                return hand_over(g, &handshake, who);
        }
    return -1;
}

void ddp_listener_close(ddp_listener *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->listening_count; i++)
        (void)close(d->listening[i]);
    for (int i = 0; i < d->pending_count; i++)
        end_pending(&d->pending[i]);
    free(d);
}

/* ---- the other side ---- */

/* Close fd, if it is one, and keep errno. */
static void drop(int fd)
{
    int error = errno;

    if (fd >= 0)
        (void)close(fd);
    errno = error;
}

/* Begin to connect. Returns a socket, or -1. */
static int approach(const ddp_net_address *to)
{
    struct sockaddr_storage address;
    int fd = socket(to->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || connect(fd, (void *)&address, ddp_net_address_sockaddr(to, &address)) == 0
        || errno == EINPROGRESS)
        return fd;
    drop(fd);
    return -1;
}

/* Return 1 if the connection is made; else errno says why not. */
static int is_connected(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error)
        errno = error;
    return error == 0;
}

/* Wait for the first connection that is made, take it out of `ways` and return it; -1 if none is
 * until then. */
static int first_through(struct pollfd *ways, int count, int64_t until_ns)
{
    int open = 0;

    for (int i = 0; i < count; i++)
        open += ways[i].fd >= 0;
    while (open > 0) {
        int64_t left_ms = (until_ns - ddp_clock_ns()) / 1000000;

        if (left_ms < 0 || poll(ways, (nfds_t)count, (int)left_ms) == 0) {
            errno = ETIMEDOUT;
            return -1;
        }
        for (int i = 0; i < count; i++) {
            int fd = ways[i].fd;

            if (fd < 0 || !ways[i].revents)
                continue;
            ways[i].fd = -1;
            if (is_connected(fd))
                return fd;
            drop(fd);
            open--;
        }
    }
    return -1;
}

int ddp_listener_connect(const ddp_net_address *at, int count, const ddp_handshake *handshake,
                         int wait_ms)
{
    int64_t until_ns = ddp_clock_ns() + wait_ms * INT64_C(1000000);
    struct pollfd ways[DDP_LISTENER_SOCKETS];
    int fd;

    for (int i = 0; i < count; i++)
        ways[i] = (struct pollfd){.fd = approach(&at[i]), .events = POLLOUT};
    fd = first_through(ways, count, until_ns);
    for (int i = 0; i < count; i++)
        drop(ways[i].fd);
    if (fd < 0)
        return -1;
    set_no_delay(fd);
    if (send(fd, handshake, sizeof *handshake, MSG_NOSIGNAL) == (ssize_t)sizeof *handshake)
        return fd;
    drop(fd);
    return -1;
}
