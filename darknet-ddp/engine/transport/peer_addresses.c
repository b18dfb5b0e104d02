#include "transport/peer_addresses.h"

#include "base/net_interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void name_machine(char *text, size_t size)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (!f)
        return;
    if (!fgets(text, (int)size, f))
        text[0] = '\0';
    (void)fclose(f);
}

static int is_used(const struct ifaddrs *a, int family)
{
    const char *interface = ddp_group_interface();

    if (!ddp_net_interface_is_up(a, family) || !a->ifa_netmask)
        return 0;
    return interface ? ddp_net_interface_matches(a, interface) : !(a->ifa_flags & IFF_LOOPBACK);
}

static int count_bits(const struct sockaddr *mask)
{
    ddp_net_address m = ddp_net_address_of(mask);
    int bits = 0;

    for (int i = 0; i < ddp_net_address_bits(&m); i++)
        bits += m.bytes[i / 8] >> (7 - i % 8) & 1;
    return bits;
}

static void add_networks(ddp_peer_address *peer, const struct ifaddrs *all, int family)
{
    for (const struct ifaddrs *a = all; a && peer->count < DDP_PEER_NETWORKS; a = a->ifa_next)
        if (is_used(a, family)) {
            peer->networks[peer->count].address = ddp_net_address_of(a->ifa_addr);
            peer->networks[peer->count++].bits = count_bits(a->ifa_netmask);
        }
}

ddp_status ddp_peer_address_fill(ddp_peer_address *peer, ddp_error *err)
{
    struct ifaddrs *all;

    *peer = (ddp_peer_address){.count = 0};
    ddp_host_name(peer->host);
    name_machine(peer->machine, sizeof peer->machine);
    if (getifaddrs(&all))
        return ddp_fail(err, DDP_ERR_IO, "cannot list network interfaces: %s", strerror(errno));
    add_networks(peer, all, AF_INET);
    add_networks(peer, all, AF_INET6);
    freeifaddrs(all);
    if (peer->count == 0 && ddp_group_interface())
        return ddp_net_interface_fail(peer->host, ddp_group_interface(), err);
    return DDP_OK;
}

static int same_host(const ddp_peer_address *a, const ddp_peer_address *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->machine, b->machine) == 0;
}

/* The lowest rank on its host. */
static int first_of(const ddp_peer_address *peers, int rank)
{
    int first = 0;

    while (!same_host(&peers[first], &peers[rank]))
        first++;
    return first;
}

void ddp_peer_addresses_order(const ddp_peer_address *peers, int size, int *order, int *first)
{
    int used = 0;

    for (int r = 0; r < size; r++) {
        int begin = used;

        if (first_of(peers, r) != r)
            continue;
        for (int other = r; other < size; other++)
            if (same_host(&peers[other], &peers[r])) {
                first[used] = begin;
                order[used++] = other;
            }
    }
}

/* One that is alike in its first bits. */
static int has_address(const ddp_peer_address *peer, const ddp_net_address *address, int bits)
{
    for (int i = 0; i < peer->count; i++)
        if (ddp_net_address_shares(&peer->networks[i].address, address, bits))
            return 1;
    return 0;
}

/* Return 1 if other has an address in the network of address, whose prefix has `bits` bits. If both
 * have the very same address, each has a network of its own, such as a bridge of containers: 0. */
static int reaches(const ddp_net_address *address, int bits, const ddp_peer_address *other)
{
    return !has_address(other, address, ddp_net_address_bits(address))
           && has_address(other, address, bits);
}

static int reaches_all(const ddp_peer_address *peers, int size, int rank, int network)
{
    const ddp_peer_address *own = &peers[rank];

    for (int r = 0; r < size; r++)
        if (!same_host(&peers[r], own)
            && !reaches(&own->networks[network].address, own->networks[network].bits, &peers[r]))
            return 0;
    return 1;
}

/* Where packets to that address leave this host; nothing is sent. Of no family: nowhere. */
static ddp_net_address address_towards(const ddp_net_address *address)
{
    ddp_net_address to = *address, none = {0};
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    int fd = socket(to.family, SOCK_DGRAM | SOCK_CLOEXEC, 0), known;

    if (fd < 0)
        return none;
    to.port = htons(9);
    known = connect(fd, (void *)&at, ddp_net_address_sockaddr(&to, &at)) == 0
            && getsockname(fd, (void *)&at, &size) == 0;
    (void)close(fd);
    return known ? ddp_net_address_of((void *)&at) : none;
}

/* Return the address on which rank `rank` listens; one of no family if there is none. */
static ddp_net_address choose(const ddp_peer_address *peers, int size, int rank)
{
    const ddp_peer_address *own = &peers[rank], *other = NULL;
    ddp_net_address found = {0};

    for (int r = 0; r < size && !other; r++)
        if (!same_host(&peers[r], own))
            other = &peers[r];
    if (!other)
        return ddp_net_address_from("127.0.0.1");
    if (own->count == 0)
        return found;
    for (int i = 0; i < own->count; i++)
        if (reaches_all(peers, size, rank, i))
            return own->networks[i].address;
    if (ddp_group_interface())
        return own->networks[0].address;
    for (int i = 0; i < other->count && found.family == 0; i++) {
        const ddp_net_address *to = &other->networks[i].address;

        if (!has_address(own, to, ddp_net_address_bits(to)))
            found = address_towards(to);
    }
    return found;
}

ddp_status ddp_peer_listen_address(const ddp_peer_address *peers, int size, int rank,
                                   ddp_net_address *out, ddp_error *err)
{
    *out = choose(peers, size, rank);
    out->port = 0;
    if (out->family != 0)
        return DDP_OK;
    for (int r = 0; r < size; r++)
        if (peers[r].count == 0)
            return ddp_net_interface_fail(peers[r].host, ddp_group_interface(), err);
    return ddp_fail(err, DDP_ERR_COMM,
                    "rank %d (host %s) has no network with an address towards the others", rank,
                    peers[rank].host);
}
