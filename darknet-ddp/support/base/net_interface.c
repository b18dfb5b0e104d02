#include "base/net_interface.h"

#include "base/net_address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ddp_net_interface_is_link_local(const struct ifaddrs *a)
{
    const struct sockaddr_in6 *six = (const void *)a->ifa_addr;

    return six->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

int ddp_net_interface_is_meant(const struct ifaddrs *a, const char *interface)
{
    ddp_net_address own = ddp_net_address_of(a->ifa_addr), network;
    char text[INET6_ADDRSTRLEN];
    size_t length = strcspn(interface, "/");
    long bits;

    if (!interface[length] || length >= sizeof text)
        return strcmp(a->ifa_name, interface) == 0;
    (void)snprintf(text, sizeof text, "%.*s", (int)length, interface);
    bits = strtol(interface + length + 1, NULL, 10);
    network = ddp_net_address_from(text);
    return network.family != 0 && bits >= 1 && bits <= ddp_net_address_bits(&network)
           && ddp_net_address_shares(&own, &network, (int)bits);
}

ddp_status ddp_net_interface_none(const char *host, const char *interface, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_IO,
                    "host %s has no network interface %s that is up with an address", host,
                    interface ? interface : "but lo");
}
