#include "base/net_interface.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ddp_net_interface_is_meant(const struct ifaddrs *a, const char *interface)
{
    const struct sockaddr_in *own = (const void *)a->ifa_addr;
    char text[INET_ADDRSTRLEN];
    size_t length = strcspn(interface, "/");
    struct in_addr network;
    long bits;

    if (!interface[length] || length >= sizeof text)
        return strcmp(a->ifa_name, interface) == 0;
    (void)snprintf(text, sizeof text, "%.*s", (int)length, interface);
    bits = strtol(interface + length + 1, NULL, 10);
    if (inet_pton(AF_INET, text, &network) != 1 || bits < 1 || bits > 32)
        return 0;
    return ((ntohl(own->sin_addr.s_addr) ^ ntohl(network.s_addr)) >> (32 - bits)) == 0;
}
