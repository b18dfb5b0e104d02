/* base/net_interface.h: this host's network interfaces. */
#ifndef DDP_BASE_NET_INTERFACE_H
#define DDP_BASE_NET_INTERFACE_H

#include "base/status.h"

#include <ifaddrs.h>

/* Is an interface with an address of IPv4 or IPv6 the one that `interface` names: by its name, or
 * by its network, as "10.1.0.0/16" or "fd00::/64"? */
int ddp_net_interface_is_meant(const struct ifaddrs *a, const char *interface);

/* Is it up, with an address of use of this family (AF_INET or AF_INET6)? An address of IPv6 that is
 * of use only with the interface's name, as each interface has one, does not count. */
int ddp_net_interface_is_up(const struct ifaddrs *a, int family);

/* Fails with DDP_ERR_IO: a host has no address of use, on that interface or (NULL) on any but lo.
 */
ddp_status ddp_net_interface_none(const char *host, const char *interface, ddp_error *err);

/* Has this host an interface of that name or network which is up? NULL: nothing is asked. Fails
 * with DDP_ERR_IO, and the names of those that are up. */
ddp_status ddp_net_interface_check(const char *interface, ddp_error *err) DDP_MUST_CHECK;

#endif
