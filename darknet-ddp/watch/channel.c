#include "watch/channel.h"

#include "base/clock.h"
#include "base/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* STRANGERS: so many more guests than there are ranks may be here at a time. */
enum { STRANGERS = 16, GUEST_MS = 5000, BUFFER = DDP_CHANNEL_BYTES + 64 };

struct head {
    uint32_t bytes;
    int32_t kind;
};

struct hello {
    uint64_t token;
    int32_t rank;
    int32_t unused;
};

struct link {
    int fd; /* -1: none */
    int lost;
    size_t in_bytes, out_bytes;
    unsigned char in[BUFFER], out[BUFFER];
};

/* Who has connected and not said yet who it is. */
struct guest {
    int fd; /* -1: none */
    int64_t since_ns;
    size_t bytes;
    unsigned char said[sizeof(struct hello)];
};

struct ddp_channel {
    uint64_t token;
    int size;
    int listening[DDP_INVITED_ADDRESSES], listening_count;
    struct link *links; /* by rank; on other ranks than 0, that of rank 0 alone */
    int link_count;
    struct guest *guests; /* rank 0's: all ranks may come at once */
    int guest_count;
};

static void end_link(struct link *l)
{
    if (l->fd >= 0)
        (void)close(l->fd);
    l->fd = -1;
    l->in_bytes = l->out_bytes = 0;
}

static void lose_link(struct link *l)
{
    end_link(l);
    l->lost = 1;
}

static void end_guest(struct guest *g)
{
    if (g->fd >= 0)
        (void)close(g->fd);
    g->fd = -1;
}

static void stop_listening(ddp_channel *c)
{
    for (int i = 0; i < c->listening_count; i++)
        (void)close(c->listening[i]);
    c->listening_count = 0;
    for (int i = 0; i < c->guest_count; i++)
        end_guest(&c->guests[i]);
}

static ddp_channel *new_channel(int links, int guests)
{
    ddp_channel *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->links = calloc((size_t)links, sizeof *c->links);
    c->guests = calloc((size_t)guests + 1, sizeof *c->guests);
    if (!c->links || !c->guests) {
        ddp_channel_close(c);
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

void ddp_channel_close(ddp_channel *c)
{
    if (!c)
        return;
    stop_listening(c);
    for (int i = 0; i < c->link_count; i++)
        end_link(&c->links[i]);
    free(c->links);
    free(c->guests);
    free(c);
}

/* ---- rank 0 ---- */

static int is_invited(const struct ifaddrs *a, int local, const char *interface)
{
    if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !(a->ifa_flags & IFF_UP))
        return 0;
    if (interface)
        return ddp_network_is_meant(a, interface);
    return local == ((a->ifa_flags & IFF_LOOPBACK) != 0);
}

static ddp_status listen_at(ddp_channel *c, ddp_invitation *inv, struct sockaddr_in address,
                            ddp_error *err)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t size = sizeof address;
    char text[INET_ADDRSTRLEN];

    address.sin_port = 0;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, SOMAXCONN)
        || getsockname(fd, (struct sockaddr *)&address, &size)) {
        int error = errno;

        if (fd >= 0)
            (void)close(fd);
        return ddp_fail(err, DDP_ERR_IO, "cannot listen on %s: %s",
                        inet_ntop(AF_INET, &address.sin_addr, text, sizeof text), strerror(error));
    }
    c->listening[c->listening_count++] = fd;
    inv->at[inv->count].address = address.sin_addr.s_addr;
    inv->at[inv->count++].port = address.sin_port;
    return DDP_OK;
}

static ddp_status listen_at_all(ddp_channel *c, ddp_invitation *inv, int local,
                                const char *interface, ddp_error *err)
{
    struct ifaddrs *all = NULL;
    ddp_status st = DDP_OK;

    if (getifaddrs(&all))
        return ddp_fail(err, DDP_ERR_IO, "cannot list network interfaces: %s", strerror(errno));
    for (struct ifaddrs *a = all; a && !st && inv->count < DDP_INVITED_ADDRESSES; a = a->ifa_next)
        if (is_invited(a, local, interface))
            st = listen_at(c, inv, *(struct sockaddr_in *)(void *)a->ifa_addr, err);
    freeifaddrs(all);
    if (!st && inv->count == 0)
        st = ddp_fail(err, DDP_ERR_IO, "no network interface %s is up with an IPv4 address",
                      interface ? interface : local ? "lo" : "but lo");
    return st;
}

ddp_status ddp_channel_invite(ddp_channel **out, ddp_invitation *invitation, int size, int local,
                              const char *interface, ddp_error *err)
{
    ddp_channel *c = new_channel(size, size + STRANGERS);
    ddp_status st;

    *out = NULL;
    *invitation = (ddp_invitation){0};
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for links to %d ranks", size);
    c->size = size;
    if (getrandom(&c->token, sizeof c->token, 0) != (ssize_t)sizeof c->token)
        c->token = (uint64_t)ddp_clock_ns() ^ (uint64_t)getpid() << 32;
    invitation->token = c->token;
    st = listen_at_all(c, invitation, local, interface, err);
    if (st) {
        ddp_channel_close(c);
        return st;
    }
    *out = c;
    return DDP_OK;
}

static void greet_guests(ddp_channel *c)
{
    for (int i = 0; i < c->listening_count; i++)
        for (;;) {
            int fd = accept4(c->listening[i], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            int g = 0;

            if (fd < 0)
                break;
            while (g < c->guest_count && c->guests[g].fd >= 0)
                g++;
            if (g == c->guest_count) {
                (void)close(fd);
                continue;
            }
            c->guests[g] = (struct guest){.fd = fd, .since_ns = ddp_clock_ns()};
        }
}

static void set_no_delay(int fd)
{
    int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* A guest says who it is, or has to leave. */
static void admit(ddp_channel *c, struct guest *guest)
{
    struct hello hello;
    ssize_t n = recv(guest->fd, guest->said + guest->bytes, sizeof hello - guest->bytes, 0);

    if (n > 0)
        guest->bytes += (size_t)n;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)
        || ddp_clock_ns() - guest->since_ns > GUEST_MS * (int64_t)1000000) {
        end_guest(guest);
        return;
    }
    if (guest->bytes < sizeof hello)
        return;
    memcpy(&hello, guest->said, sizeof hello);
    if (hello.token != c->token || hello.rank < 1 || hello.rank >= c->size
        || c->links[hello.rank].fd >= 0) {
        end_guest(guest);
        return;
    }
    c->links[hello.rank].fd = guest->fd;
    set_no_delay(guest->fd);
    guest->fd = -1;
}

static void admit_guests(ddp_channel *c)
{
    int awaited = 0;

    if (c->listening_count == 0)
        return;
    greet_guests(c);
    for (int g = 0; g < c->guest_count; g++)
        if (c->guests[g].fd >= 0)
            admit(c, &c->guests[g]);
    for (int r = 1; r < c->size; r++)
        awaited += c->links[r].fd < 0 && !c->links[r].lost;
    if (awaited == 0)
        stop_listening(c);
}

/* ---- other ranks ---- */

static int connect_to(uint32_t address, uint16_t port, int wait_ms)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = address};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;

    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (errno == EINPROGRESS && poll(&wait, 1, wait_ms) == 1
        && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static ddp_status fail_to_join(const ddp_invitation *inv, ddp_error *err)
{
    char list[256] = "", text[INET_ADDRSTRLEN];

    for (int i = 0; i < inv->count; i++) {
        size_t used = strlen(list);

        (void)inet_ntop(AF_INET, &inv->at[i].address, text, sizeof text);
        (void)snprintf(list + used, sizeof list - used, "%s%s port %u", i ? ", " : "", text,
                       (unsigned)ntohs(inv->at[i].port));
    }
    return ddp_fail(err, DDP_ERR_COMM,
                    "cannot reach rank 0 at %s: a firewall between the hosts, or another network?",
                    list);
}

ddp_status ddp_channel_join(ddp_channel **out, const ddp_invitation *invitation, int rank,
                            int wait_ms, ddp_error *err)
{
    const struct hello hello = {.token = invitation->token, .rank = rank};
    ddp_channel *c = new_channel(1, 0);

    *out = NULL;
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a link to rank 0");
    for (int i = 0; i < invitation->count && c->links[0].fd < 0; i++)
        c->links[0].fd = connect_to(invitation->at[i].address, invitation->at[i].port, wait_ms);
    if (c->links[0].fd < 0
        || send(c->links[0].fd, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello) {
        ddp_channel_close(c);
        return fail_to_join(invitation, err);
    }
    set_no_delay(c->links[0].fd);
    *out = c;
    return DDP_OK;
}

/* ---- messages ---- */

static struct link *link_of(const ddp_channel *c, int rank)
{
    return rank >= 0 && rank < c->link_count ? &c->links[rank] : NULL;
}

static void flush(struct link *l)
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

void ddp_channel_send(ddp_channel *c, int rank, int kind, const void *bytes, size_t count)
{
    struct link *l = link_of(c, rank);
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

/* Hand on the whole messages at the start of what has come. */
static void take_messages(struct link *l, int rank, ddp_channel_handler handler, void *ctx)
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

static void receive(struct link *l, int rank, ddp_channel_handler handler, void *ctx)
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

static void wait_for_something(ddp_channel *c, int wait_ms)
{
    size_t count = (size_t)c->link_count + (size_t)c->guest_count + (size_t)c->listening_count;
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
    for (int i = 0; i < c->guest_count; i++)
        if (c->guests[i].fd >= 0)
            fds[n++] = (struct pollfd){.fd = c->guests[i].fd, .events = POLLIN};
    for (int i = 0; i < c->listening_count; i++)
        fds[n++] = (struct pollfd){.fd = c->listening[i], .events = POLLIN};
    (void)poll(fds, n, wait_ms);
    free(fds);
}

void ddp_channel_poll(ddp_channel *c, int wait_ms, ddp_channel_handler handler, void *ctx)
{
    wait_for_something(c, wait_ms);
    admit_guests(c);
    for (int r = 0; r < c->link_count; r++) {
        flush(&c->links[r]);
        receive(&c->links[r], r, handler, ctx);
    }
}

ddp_link ddp_channel_link(const ddp_channel *c, int rank)
{
    const struct link *l = link_of(c, rank);

    if (!l || l->lost)
        return DDP_LINK_LOST;
    return l->fd >= 0 ? DDP_LINK_OPEN : DDP_LINK_AWAITED;
}
