#include "base/net_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

ddp_net_address ddp_net_address_of(const struct sockaddr *a)
{
    ddp_net_address out = {.family = a ? a->sa_family : 0};

    if (out.family == AF_INET) {
        const struct sockaddr_in *in = (const void *)a;

        out.port = in->sin_port;
        memcpy(out.bytes, &in->sin_addr, sizeof in->sin_addr);
    } else if (out.family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)a;

        out.port = in->sin6_port;
        out.scope = in->sin6_scope_id;
        memcpy(out.bytes, &in->sin6_addr, sizeof in->sin6_addr);
    } else {
        out.family = 0;
    }
    return out;
}

socklen_t ddp_net_address_sockaddr(const ddp_net_address *a, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (void *)out;
    struct sockaddr_in6 *six = (void *)out;

    memset(out, 0, sizeof *out);
    if (a->family == AF_INET) {
        four->sin_family = AF_INET;
        four->sin_port = a->port;
        memcpy(&four->sin_addr, a->bytes, sizeof four->sin_addr);
        return sizeof *four;
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = a->port;
    six->sin6_scope_id = a->scope;
    memcpy(&six->sin6_addr, a->bytes, sizeof six->sin6_addr);
    return sizeof *six;
}

void ddp_net_address_text(const ddp_net_address *a, char out[DDP_ADDRESS_TEXT])
{
    char address[INET6_ADDRSTRLEN] = "?";

    (void)inet_ntop(a->family, a->bytes, address, sizeof address);
    if (a->port)
        (void)snprintf(out, DDP_ADDRESS_TEXT, "%s port %u", address, (unsigned)ntohs(a->port));
    else
        (void)snprintf(out, DDP_ADDRESS_TEXT, "%s", address);
}

ddp_net_address ddp_net_address_from(const char *text)
{
    ddp_net_address out = {.family = AF_INET};

    if (inet_pton(AF_INET, text, out.bytes) == 1)
        return out;
    out.family = inet_pton(AF_INET6, text, out.bytes) == 1 ? AF_INET6 : 0;
    return out;
}

int ddp_net_address_bits(const ddp_net_address *a)
{
    return a->family == AF_INET ? 32 : 128;
}

int ddp_net_address_shares(const ddp_net_address *a, const ddp_net_address *b, int bits)
{
    size_t whole = (size_t)bits / 8;
    int rest = bits % 8;

    return a->family == b->family && bits >= 0 && bits <= ddp_net_address_bits(a)
           && memcmp(a->bytes, b->bytes, whole) == 0
           && (rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0);
}
