/* Makes the connections of the watch: rank 0 listens, the other ranks connect to it and say who
 * they are. */
#include "watch/heartbeat_state.h"

#include "base/net_interface.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* STRANGERS: pending connections allowed beyond one for each rank. */
enum { STRANGERS = 64 };

/* ---- rank 0 ---- */

static int is_invited(const struct ifaddrs *a, int family, int local, const char *interface)
{
    if (!ddp_net_interface_is_up(a, family))
        return 0;
    if (interface)
        return ddp_net_interface_matches(a, interface);
    return local == ((a->ifa_flags & IFF_LOOPBACK) != 0);
}

/* Listen at the addresses of a family, until there are `most`. An address that fails, that of an
 * interface without a carrier say, is left out; *last is the last failure. */
static void listen_at(ddp_heartbeat *c, ddp_heartbeat_invitation *inv, const struct ifaddrs *all,
                      int family, int most, int local, const char *interface, ddp_error *last)
{
    for (const struct ifaddrs *a = all; a && inv->count < most; a = a->ifa_next)
        if (is_invited(a, family, local, interface)) {
            inv->at[inv->count] = ddp_net_address_of(a->ifa_addr);
            if (!ddp_listener_bind(c->listener, &inv->at[inv->count], last))
                inv->count++;
        }
}

static ddp_status listen_at_all(ddp_heartbeat *c, ddp_heartbeat_invitation *inv, int local,
                                const char *interface, ddp_error *err)
{
    struct ifaddrs *all = NULL;
    char host[256] = "";
    ddp_error last = {0};

    if (getifaddrs(&all))
        return ddp_fail(err, DDP_ERR_IO, "cannot list network interfaces: %s", strerror(errno));
    /* Both families: an address of IPv4 may be of a network that this host has for itself. */
    listen_at(c, inv, all, AF_INET, DDP_LISTENER_SOCKETS / 2, local, interface, &last);
    if (!(local && inv->count > 0))
        listen_at(c, inv, all, AF_INET6, DDP_LISTENER_SOCKETS, local, interface, &last);
    freeifaddrs(all);
    if (inv->count > 0)
        return DDP_OK;
    if (last.code) {
        *err = last;
        return last.code;
    }
    (void)gethostname(host, sizeof host - 1);
    return ddp_net_interface_fail(host, interface ? interface : local ? "lo" : NULL, err);
}

ddp_status ddp_heartbeat_invite(ddp_heartbeat **out, ddp_heartbeat_invitation *invitation, int size,
                                int local, const char *interface, ddp_error *err)
{
    ddp_heartbeat *c = ddp_heartbeat_new(size);
    ddp_status st;

    *out = NULL;
    *invitation = (ddp_heartbeat_invitation){0};
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for links to %d ranks", size);
    ddp_key_draw(&invitation->key);
    st = ddp_listener_open(&c->listener, &invitation->key, size + STRANGERS, err);
    if (!st)
        st = listen_at_all(c, invitation, local, interface, err);
    if (st) {
        ddp_heartbeat_close(c);
        return st;
    }
    *out = c;
    return DDP_OK;
}

void ddp_heartbeat_accept(ddp_heartbeat *c)
{
    int awaited = 0, fd;
    int32_t rank;

    if (!c->listener)
        return;
    while ((fd = ddp_listener_accept(c->listener, &rank)) >= 0)
        if (rank < 1 || rank >= c->link_count || c->links[rank].fd >= 0)
            (void)close(fd);
        else
            c->links[rank].fd = fd;
    for (int r = 1; r < c->link_count; r++)
        awaited += c->links[r].fd < 0 && !c->links[r].lost;
    if (awaited == 0)
        ddp_heartbeat_stop_listening(c);
}

/* ---- other ranks ---- */

static ddp_status fail_to_join(const ddp_heartbeat_invitation *inv, ddp_error *err)
{
    char list[320] = "", text[DDP_ADDRESS_TEXT]; /* leaves room for the sentence */

    for (int i = 0; i < inv->count && strlen(list) + sizeof text + 2 < sizeof list; i++) {
        size_t used = strlen(list);

        ddp_net_address_text(&inv->at[i], text);
        (void)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", text);
    }
    return ddp_fail(err, DDP_ERR_COMM,
                    "cannot reach rank 0 at %s: a firewall between the hosts, or another network?",
                    list);
}

ddp_status ddp_heartbeat_join(ddp_heartbeat **out, const ddp_heartbeat_invitation *invitation,
                              int rank, int wait_ms, ddp_error *err)
{
    const ddp_handshake handshake = {.key = invitation->key, .who = rank};
    ddp_heartbeat *c = ddp_heartbeat_new(1);

    *out = NULL;
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a link to rank 0");
    c->links[0].fd = ddp_listener_connect(invitation->at, invitation->count, &handshake, wait_ms);
    if (c->links[0].fd < 0) {
        ddp_heartbeat_close(c);
        return fail_to_join(invitation, err);
    }
    *out = c;
    return DDP_OK;
}
