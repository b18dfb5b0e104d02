/* base/net_interface.h: this host's network interfaces. */
#ifndef DDP_BASE_NET_INTERFACE_H
#define DDP_BASE_NET_INTERFACE_H

#include "base/status.h"

#include <ifaddrs.h>

/* Return 1 if `interface` is a->ifa_name, or a network ("10.1.0.0/16", "fd00::/64", not "/0") in
 * which *a's address lies. */
int ddp_net_interface_matches(const struct ifaddrs *a, const char *interface);

/* Return 1 if *a is up and its address is of this family (AF_INET or AF_INET6). Link-local
 * addresses of IPv6 do not count: each interface has one, and other hosts cannot use it without the
 * interface's name. */
int ddp_net_interface_is_up(const struct ifaddrs *a, int family);

/* Write to names[0..size) which interfaces of this host are up, by name, with commas between; "" if
 * none is, or if they cannot be listed. A name without room is left out. interface: a name or
 * network that they match; NULL: any. */
void ddp_net_interface_names(const char *interface, char *names, size_t size);

/* Fail with DDP_ERR_IO, which is returned: `host` has no interface of this name or network that is
 * up with an address. If interface is NULL, the text says that the host has only lo. */
ddp_status ddp_net_interface_fail(const char *host, const char *interface, ddp_error *err);

/* Fail with DDP_ERR_IO if no interface of this host matches `interface`, a name or a network, and
 * is up with an address (ddp_net_interface_matches). The text lists those that are up. Fails also
 * if interfaces cannot be listed. If `interface` is NULL, nothing is checked. */
ddp_status ddp_net_interface_check(const char *interface, ddp_error *err) DDP_MUST_CHECK;

#endif
