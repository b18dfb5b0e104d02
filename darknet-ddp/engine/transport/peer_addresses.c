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

static int is_used(const struct ifaddrs *a)
{
    const char *interface = ddp_group_interface();

    if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !a->ifa_netmask
        || !(a->ifa_flags & IFF_UP))
        return 0;
    return interface ? ddp_net_interface_is_meant(a, interface) : !(a->ifa_flags & IFF_LOOPBACK);
}

static uint32_t address_of(const struct sockaddr *a)
{
    return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr;
}

ddp_status ddp_peer_address_fill(ddp_peer_address *card, ddp_error *err)
{
    struct ifaddrs *all;

    *card = (ddp_peer_address){.count = 0};
    ddp_host_name(card->host);
    name_machine(card->machine, sizeof card->machine);
    if (getifaddrs(&all))
        return ddp_fail(err, DDP_ERR_IO, "cannot list network interfaces: %s", strerror(errno));
    for (struct ifaddrs *a = all; a && card->count < DDP_CARD_NETWORKS; a = a->ifa_next)
        if (is_used(a)) {
            card->networks[card->count].address = address_of(a->ifa_addr);
            card->networks[card->count++].mask = address_of(a->ifa_netmask);
        }
    freeifaddrs(all);
    if (card->count == 0 && ddp_group_interface())
        return ddp_fail(err, DDP_ERR_IO, "no network interface %s is up with an IPv4 address",
                        ddp_group_interface());
    return DDP_OK;
}

static int same_host(const ddp_peer_address *a, const ddp_peer_address *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->machine, b->machine) == 0;
}

/* The lowest rank on its host. */
static int first_of(const ddp_peer_address *cards, int rank)
{
    int first = 0;

    while (!same_host(&cards[first], &cards[rank]))
        first++;
    return first;
}

void ddp_peer_addresses_order(const ddp_peer_address *cards, int size, int *order, int *first)
{
    int used = 0;

    for (int r = 0; r < size; r++) {
        int begin = used;

        if (first_of(cards, r) != r)
            continue;
        for (int other = r; other < size; other++)
            if (same_host(&cards[other], &cards[r])) {
                first[used] = begin;
                order[used++] = other;
            }
    }
}

/* The same address on two hosts is of a network that each has for itself, as containers' bridges.
 */
static int reaches(uint32_t address, uint32_t mask, const ddp_peer_address *other)
{
    int reached = 0;

    for (int i = 0; i < other->count; i++) {
        if (other->networks[i].address == address)
            return 0;
        reached |= ((other->networks[i].address ^ address) & mask) == 0;
    }
    return reached;
}

static int reaches_all(const ddp_peer_address *cards, int size, int rank, int network)
{
    const ddp_peer_address *own = &cards[rank];

    for (int r = 0; r < size; r++)
        if (!same_host(&cards[r], own)
            && !reaches(own->networks[network].address, own->networks[network].mask, &cards[r]))
            return 0;
    return 1;
}

/* Where packets to that address leave this host; nothing is sent. 0: nowhere. */
static uint32_t address_towards(uint32_t address)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    socklen_t size = sizeof to;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), known;

    if (fd < 0)
        return 0;
    to.sin_addr.s_addr = address;
    known = connect(fd, (const struct sockaddr *)&to, sizeof to) == 0
            && getsockname(fd, (struct sockaddr *)&to, &size) == 0;
    (void)close(fd);
    return known ? to.sin_addr.s_addr : 0;
}

/* 0: there is none. */
static uint32_t choose(const ddp_peer_address *cards, int size, int rank)
{
    const ddp_peer_address *own = &cards[rank], *other = NULL;

    for (int r = 0; r < size && !other; r++)
        if (!same_host(&cards[r], own))
            other = &cards[r];
    if (!other)
        return htonl(INADDR_LOOPBACK);
    for (int i = 0; i < own->count; i++)
        if (reaches_all(cards, size, rank, i))
            return own->networks[i].address;
    if (ddp_group_interface())
        return own->networks[0].address;
    return other->count > 0 ? address_towards(other->networks[0].address) : 0;
}

ddp_status ddp_peer_addresses_address(const ddp_peer_address *cards, int size, int rank,
                                      char text[INET_ADDRSTRLEN], ddp_error *err)
{
    struct in_addr address = {.s_addr = choose(cards, size, rank)};

    if (address.s_addr == 0 || !inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN))
        return ddp_fail(err, DDP_ERR_COMM,
                        "rank %d (host %s) has no network with an IPv4 address towards the others",
                        rank, cards[rank].host);
    return DDP_OK;
}
