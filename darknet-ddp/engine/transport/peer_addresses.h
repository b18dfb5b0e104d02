/* transport/peer_addresses.h: how ranks learn each other's hosts and network addresses, before they
 * connect for Gloo. Every rank fills a ddp_peer_address, and all ranks exchange them. */
#ifndef DDP_TRANSPORT_PEER_ADDRESSES_H
#define DDP_TRANSPORT_PEER_ADDRESSES_H

#include "base/net_address.h"
#include "comm/backend.h"

enum { DDP_PEER_NETWORKS = 16 }; /* most addresses of a rank; others are left out */

/* Host and addresses of one rank: plain bytes without pointers, which are sent as they are. */
typedef struct ddp_peer_address {
    char host[DDP_HOST_BYTES];
    char machine[64]; /* id of the host's boot, since other hosts may have the same name */
    int32_t count;    /* how many entries of networks are used */
    struct {
        ddp_net_address address;
        int32_t bits; /* length of the network's prefix: 24 of 10.1.0.0/24 */
    } networks[DDP_PEER_NETWORKS];
} ddp_peer_address;

/* Set *peer to this rank's host and its addresses, IPv4 first, without IPv6's link-local ones:
 * those of the interface or network that ddp_group_interface returns. If that is NULL, take all
 * interfaces that are up except lo; there may be no address then. Fails with DDP_ERR_IO, also if
 * the interface or network has no address. */
ddp_status ddp_peer_address_fill(ddp_peer_address *peer, ddp_error *err);

/* Renumber the ranks so that ranks of a host have consecutive numbers, in their old order. peers is
 * indexed by the old numbers. The results have `size` entries, indexed by the new numbers: order[r]
 * becomes the old number of rank r, first[r] the lowest new number on its host. */
void ddp_peer_addresses_order(const ddp_peer_address *peers, int size, int *order, int *first);

/* Choose the address on which this process, peers[rank], listens. *out becomes the first of these
 * that there is, with port 0:
 *
 *   1. if all ranks are on one host, the loopback address
 *   2. an address of the rank in a network in which each other host has a different address
 *   3. the rank's first address of ddp_group_interface, if that is set
 *   4. the address from which this process's packets to another host leave
 *
 * If there is none, fails with DDP_ERR_IO if some rank has no address at all, else with
 * DDP_ERR_COMM. */
ddp_status ddp_peer_listen_address(const ddp_peer_address *peers, int size, int rank,
                                   ddp_net_address *out, ddp_error *err);

#endif
