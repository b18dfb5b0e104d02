/* base/net_interface.h: this host's network interfaces. */
#ifndef DDP_BASE_NET_INTERFACE_H
#define DDP_BASE_NET_INTERFACE_H

#include "base/status.h"

#include <ifaddrs.h>

/* Return 1 if `interface` names the network interface of *a, by its name or by its network
 * ("10.1.0.0/16", "fd00::/64"). */
int ddp_net_interface_is_meant(const struct ifaddrs *a, const char *interface);

/* Return 1 if *a is up and its address is of this family (AF_INET or AF_INET6). Link-local
 * addresses of IPv6 do not count: each interface has one, and it is of use only with the
 * interface's name. */
int ddp_net_interface_is_up(const struct ifaddrs *a, int family);

/* Always fail, with DDP_ERR_IO: the host has no address of use on that interface or, with interface
 * NULL, on any but lo. */
ddp_status ddp_net_interface_none(const char *host, const char *interface, ddp_error *err);

/* Fail with DDP_ERR_IO if this host has no interface of that name or network that is up. The text
 * lists the interfaces that are up. If interface is NULL, nothing is checked. */
ddp_status ddp_net_interface_check(const char *interface, ddp_error *err) DDP_MUST_CHECK;

#endif
