/* base/net_address.h: addresses of hosts, of IPv4 and of IPv6. */
#ifndef DDP_BASE_NET_ADDRESS_H
#define DDP_BASE_NET_ADDRESS_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

enum { DDP_ADDRESS_TEXT = INET6_ADDRSTRLEN + 20 };

/* Plain bytes, to be sent as they are. */
typedef struct ddp_net_address {
    int32_t family; /* AF_INET or AF_INET6; 0: none */
    uint32_t scope; /* of a link-local one */
    uint16_t port;  /* in network byte order; 0: none yet */
    uint16_t unused;
    unsigned char bytes[16];
} ddp_net_address;

/* Of AF_INET and AF_INET6; else family is 0. */
ddp_net_address ddp_net_address_of(const struct sockaddr *a);

/* For bind and connect. Returns its length. */
socklen_t ddp_net_address_sockaddr(const ddp_net_address *a, struct sockaddr_storage *out);

/* "10.1.0.2" or "fd00::2", and with a port " port 4711" behind it, into out. */
void ddp_net_address_text(const ddp_net_address *a, char out[DDP_ADDRESS_TEXT]);

/* From "10.1.0.2" or "fd00::2"; family is 0 where it is neither. */
ddp_net_address ddp_net_address_from(const char *text);

/* Of the same family, and alike in their first bits? bits: 0 to 32 or to 128. */
int ddp_net_address_shares(const ddp_net_address *a, const ddp_net_address *b, int bits);

/* Bits of a whole address. */
int ddp_net_address_bits(const ddp_net_address *a);

#endif
