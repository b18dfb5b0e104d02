/* transport/peer_addresses.h: what ranks that Gloo connects tell each other first: on which host
 * each is, and under which addresses it can be reached. */
#ifndef DDP_TRANSPORT_PEER_ADDRESSES_H
#define DDP_TRANSPORT_PEER_ADDRESSES_H

#include "base/net_address.h"
#include "comm/backend.h"

enum { DDP_PEER_NETWORKS = 16 };

/* Plain bytes, to be sent as they are. */
typedef struct ddp_peer_address {
    char host[DDP_HOST_BYTES];
    char machine[64]; /* other hosts may have the same name */
    int32_t count;
    struct {
        ddp_net_address address;
        int32_t bits; /* that are of the network */
    } networks[DDP_PEER_NETWORKS];
} ddp_peer_address;

/* This rank's: of the interface that ddp_group_interface names, or of all that are up; IPv4 first.
 * Fails with DDP_ERR_IO. */
ddp_status ddp_peer_address_fill(ddp_peer_address *peer, ddp_error *err);

/* Number ranks host by host, and those of a host as they were: order[new] is the number that the
 * rank had; first[new] the lowest new one on its host. Room for `size` each. */
void ddp_peer_addresses_order(const ddp_peer_address *peers, int size, int *order, int *first);

/* The address on which rank `rank` listens: on a network that it shares with all other hosts, where
 * there is one, else what leads to the first of them; of ranks of one host the loopback's. Without
 * a port. Fails with DDP_ERR_COMM, or DDP_ERR_IO: a host has no address. */
ddp_status ddp_peer_addresses_address(const ddp_peer_address *peers, int size, int rank,
                                      ddp_net_address *out, ddp_error *err);

#endif
