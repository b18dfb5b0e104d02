/* transport/peer_addresses.h: what ranks tell each other before Gloo connects them: on which host
 * each is, and under which addresses it can be reached. */
#ifndef DDP_TRANSPORT_PEER_ADDRESSES_H
#define DDP_TRANSPORT_PEER_ADDRESSES_H

#include "base/net_address.h"
#include "comm/backend.h"

enum { DDP_PEER_NETWORKS = 16 }; /* most addresses of a rank; others are left out */

/* Host and addresses of one rank: plain bytes, to be sent as they are. */
typedef struct ddp_peer_address {
    char host[DDP_HOST_BYTES];
    char machine[64]; /* id of the machine, since other hosts may have the same name */
    int32_t count;    /* how many entries of networks are used */
    struct {
        ddp_net_address address;
        int32_t bits; /* length of its network's prefix: 24 of 10.1.0.0/24 */
    } networks[DDP_PEER_NETWORKS];
} ddp_peer_address;

/* Fill *peer with this rank's host and the addresses of the interface that ddp_group_interface
 * names, or of all but lo that are up; IPv4 first. *peer may have no address, unless an interface
 * is named. Fails with DDP_ERR_IO. */
ddp_status ddp_peer_address_fill(ddp_peer_address *peer, ddp_error *err);

/* Number the ranks anew: host by host, and within a host in their old order. peers[i] belongs to
 * the rank with the old number i. Set order[new] to the rank's old number, and first[new] to the
 * lowest new number on its host. Both have `size` elements. */
void ddp_peer_addresses_order(const ddp_peer_address *peers, int size, int *order, int *first);

/* Set *out to the address, without a port, on which the rank of peers[rank] listens. If all
 * ranks are on one host, this is the loopback address. Else it is an address in a network that all
 * other hosts share. If no network is shared, it is the first address of the interface of
 * ddp_group_interface or, without an interface, one that leads to another host. If there is no such
 * address, fails with DDP_ERR_IO where some host has none at all, else with DDP_ERR_COMM. */
ddp_status ddp_peer_addresses_address(const ddp_peer_address *peers, int size, int rank,
                                      ddp_net_address *out, ddp_error *err);

#endif
