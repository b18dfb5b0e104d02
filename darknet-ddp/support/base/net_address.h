/* base/net_address.h: IPv4 and IPv6 addresses of hosts, as bytes and as text. */
#ifndef DDP_BASE_NET_ADDRESS_H
#define DDP_BASE_NET_ADDRESS_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    DDP_ADDRESS_TEXT = INET6_ADDRSTRLEN + 20
}; /* bytes of an address and its port as text, with the zero */

/* An address of a host, with or without a port: plain bytes, to be sent as they are. */
typedef struct ddp_net_address {
    int32_t family; /* AF_INET or AF_INET6; 0: none */
    uint32_t scope; /* number of the interface, for a link-local address of IPv6; else 0 */
    uint16_t port;  /* port in network byte order; 0: none yet */
    uint16_t unused;
    unsigned char bytes[16];
} ddp_net_address;

/* Return a socket address as a ddp_net_address. Its family is 0 if a is NULL, or neither AF_INET
 * nor AF_INET6. */
ddp_net_address ddp_net_address_of(const struct sockaddr *a);

/* Write the address to *out, for bind and connect, and return its length. a->family is not 0. */
socklen_t ddp_net_address_sockaddr(const ddp_net_address *a, struct sockaddr_storage *out);

/* Write the address as text: "10.1.0.2" or "fd00::2", and " port 4711" if it has one. */
void ddp_net_address_text(const ddp_net_address *a, char out[DDP_ADDRESS_TEXT]);

/* Return the address of a text such as "10.1.0.2" or "fd00::2", without a port. Its family is 0 if
 * the text is no address. */
ddp_net_address ddp_net_address_from(const char *text);

/* Return 1 if a and b are of one family and their first `bits` bits are equal. bits: 0 to 32 for
 * IPv4, 0 to 128 for IPv6. */
int ddp_net_address_shares(const ddp_net_address *a, const ddp_net_address *b, int bits);

/* Return how many bits an address of a's family has: 32 or 128. */
int ddp_net_address_bits(const ddp_net_address *a);

#endif
