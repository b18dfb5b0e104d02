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

/* Return 1 if *a is up and, unless `interface` is NULL, matches it. */
static int is_wanted(const struct ifaddrs *a, const char *interface)
{
    return (ddp_net_interface_is_up(a, AF_INET) || ddp_net_interface_is_up(a, AF_INET6))
           && (!interface || ddp_net_interface_matches(a, interface));
}

/* Return the length of an interface's name without the label of an address, as in eth0:1. */
static size_t name_bytes(const struct ifaddrs *a)
{
    return strcspn(a->ifa_name, ":");
}

static int is_same(const struct ifaddrs *a, const struct ifaddrs *b)
{
    return name_bytes(a) == name_bytes(b) && strncmp(a->ifa_name, b->ifa_name, name_bytes(a)) == 0;
}

/* List the names, each once, of the wanted interfaces. Names for which there is no room are left
 * out. */
static void list_names(const struct ifaddrs *all, const char *interface, const char *separator,
                       char *names, size_t size)
{
    names[0] = '\0';
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        const struct ifaddrs *first = all; /* of this name: an interface has several addresses */
        size_t used = strlen(names);

        if (!is_wanted(a, interface))
            continue;
        while (!is_wanted(first, interface) || !is_same(first, a))
            first = first->ifa_next;
        if (first == a && used + strlen(separator) + name_bytes(a) < size)
            (void)snprintf(names + used, size - used, "%s%.*s", used ? separator : "",
                           (int)name_bytes(a), a->ifa_name);
    }
}

void ddp_net_interface_names(const char *interface, char *names, size_t size)
{
    struct ifaddrs *all;

    names[0] = '\0';
    if (getifaddrs(&all))
        return;
    list_names(all, interface, ",", names, size);
    freeifaddrs(all);
}

ddp_status ddp_net_interface_check(const char *interface, ddp_error *err)
{
    struct ifaddrs *all;
    char host[256] = "", names[256], host_has[256];

    if (!interface)
        return DDP_OK;
    if (getifaddrs(&all))
        return ddp_fail(err, DDP_ERR_IO, "cannot list network interfaces: %s", strerror(errno));
    list_names(all, interface, ", ", names, sizeof names);
    if (!names[0])
        list_names(all, NULL, ", ", host_has, sizeof host_has);
    freeifaddrs(all);
    if (names[0])
        return DDP_OK;
    (void)gethostname(host, sizeof host - 1);
    return ddp_fail(err, DDP_ERR_IO,
                    "host %s has no network interface %s that is up with an address; it has %s",
                    host, interface, host_has);
}
