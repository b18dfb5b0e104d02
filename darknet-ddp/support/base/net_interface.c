#include "base/net_interface.h"

#include "base/net_address.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_link_local(const struct ifaddrs *a)
{
    const struct sockaddr_in6 *six = (const void *)a->ifa_addr;

    return six->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

int ddp_net_interface_is_up(const struct ifaddrs *a, int family)
{
    return a->ifa_addr && a->ifa_addr->sa_family == family && (a->ifa_flags & IFF_UP)
           && !is_link_local(a);
}

int ddp_net_interface_matches(const struct ifaddrs *a, const char *interface)
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

ddp_status ddp_net_interface_fail(const char *host, const char *interface, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_IO,
                    "host %s has no network interface %s that is up with an address", host,
                    interface ? interface : "but lo");
}

/* List the names of interfaces that are up, each once. Returns 1 if `interface` names one of
 * them. */
static int look_for(const struct ifaddrs *all, const char *interface, char *names, size_t size)
{
    int found = 0;

    names[0] = '\0';
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        size_t used = strlen(names);

        if (!ddp_net_interface_is_up(a, AF_INET) && !ddp_net_interface_is_up(a, AF_INET6))
            continue;
        found |= ddp_net_interface_matches(a, interface);
        if (!strstr(names, a->ifa_name))
            (void)snprintf(names + used, size - used, "%s%s", used ? ", " : "", a->ifa_name);
    }
    return found;
}

ddp_status ddp_net_interface_check(const char *interface, ddp_error *err)
{
    struct ifaddrs *all;
    char host[256] = "", names[256];
    int found;

    if (!interface)
        return DDP_OK;
    if (getifaddrs(&all))
        return ddp_fail(err, DDP_ERR_IO, "cannot list network interfaces: %s", strerror(errno));
    found = look_for(all, interface, names, sizeof names);
    freeifaddrs(all);
    if (found)
        return DDP_OK;
    (void)gethostname(host, sizeof host - 1);
    return ddp_fail(err, DDP_ERR_IO,
                    "host %s has no network interface %s that is up with an address; it has %s",
                    host, interface, names);
}
