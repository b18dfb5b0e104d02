/* How ranks come together: rank 0 listens, the others connect to it and say who they are. */
#include "watch/heartbeat_state.h"

#include "base/clock.h"
#include "base/net_interface.h"

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
enum { STRANGERS = 16, GUEST_MS = 5000 };

/* ---- rank 0 ---- */

static int is_invited(const struct ifaddrs *a, int local, const char *interface)
{
    if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !(a->ifa_flags & IFF_UP))
        return 0;
    if (interface)
        return ddp_net_interface_is_meant(a, interface);
    return local == ((a->ifa_flags & IFF_LOOPBACK) != 0);
}

static ddp_status listen_at(ddp_heartbeat *c, ddp_heartbeat_address *inv,
                            struct sockaddr_in address, ddp_error *err)
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

static ddp_status listen_at_all(ddp_heartbeat *c, ddp_heartbeat_address *inv, int local,
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

ddp_status ddp_heartbeat_invite(ddp_heartbeat **out, ddp_heartbeat_address *invitation, int size,
                                int local, const char *interface, ddp_error *err)
{
    ddp_heartbeat *c = ddp_heartbeat_new(size, size + STRANGERS);
    ddp_status st;

    *out = NULL;
    *invitation = (ddp_heartbeat_address){0};
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for links to %d ranks", size);
    c->size = size;
    if (getrandom(&c->token, sizeof c->token, 0) != (ssize_t)sizeof c->token)
        c->token = (uint64_t)ddp_clock_ns() ^ (uint64_t)getpid() << 32;
    invitation->token = c->token;
    st = listen_at_all(c, invitation, local, interface, err);
    if (st) {
        ddp_heartbeat_close(c);
        return st;
    }
    *out = c;
    return DDP_OK;
}

static void greet_guests(ddp_heartbeat *c)
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
            c->guests[g] = (struct ddp_guest){.fd = fd, .since_ns = ddp_clock_ns()};
        }
}

static void set_no_delay(int fd)
{
    int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* A guest says who it is, or has to leave. */
static void admit(ddp_heartbeat *c, struct ddp_guest *guest)
{
    struct ddp_hello hello;
    ssize_t n = recv(guest->fd, guest->said + guest->bytes, sizeof hello - guest->bytes, 0);

    if (n > 0)
        guest->bytes += (size_t)n;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)
        || ddp_clock_ns() - guest->since_ns > GUEST_MS * (int64_t)1000000) {
        ddp_heartbeat_end_guest(guest);
        return;
    }
    if (guest->bytes < sizeof hello)
        return;
    memcpy(&hello, guest->said, sizeof hello);
    if (hello.token != c->token || hello.rank < 1 || hello.rank >= c->size
        || c->links[hello.rank].fd >= 0) {
        ddp_heartbeat_end_guest(guest);
        return;
    }
    c->links[hello.rank].fd = guest->fd;
    set_no_delay(guest->fd);
    guest->fd = -1;
}

void ddp_heartbeat_admit(ddp_heartbeat *c)
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
        ddp_heartbeat_stop_listening(c);
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

static ddp_status fail_to_join(const ddp_heartbeat_address *inv, ddp_error *err)
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

ddp_status ddp_heartbeat_join(ddp_heartbeat **out, const ddp_heartbeat_address *invitation,
                              int rank, int wait_ms, ddp_error *err)
{
    const struct ddp_hello hello = {.token = invitation->token, .rank = rank};
    ddp_heartbeat *c = ddp_heartbeat_new(1, 0);

    *out = NULL;
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a link to rank 0");
    for (int i = 0; i < invitation->count && c->links[0].fd < 0; i++)
        c->links[0].fd = connect_to(invitation->at[i].address, invitation->at[i].port, wait_ms);
    if (c->links[0].fd < 0
        || send(c->links[0].fd, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello) {
        ddp_heartbeat_close(c);
        return fail_to_join(invitation, err);
    }
    set_no_delay(c->links[0].fd);
    *out = c;
    return DDP_OK;
}
