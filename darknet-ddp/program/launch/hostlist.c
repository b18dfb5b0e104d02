#include "launch/hostlist.h"

#include "launch/mpirun.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 4096 };

void ddp_hosts_release(ddp_hosts *h)
{
    for (size_t i = 0; i < h->count; i++)
        free(h->list[i].name);
    free(h->list);
    *h = (ddp_hosts){0};
}

/* ---- reading ---- */

static ddp_status add(ddp_hosts *h, const char *name, size_t bytes, long ranks, ddp_error *err)
{
    if (h->count == DDP_HOSTS_MAX)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_hosts takes up to %d hosts", DDP_HOSTS_MAX);
    h->list[h->count].name = strndup(name, bytes);
    if (!h->list[h->count].name)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of hosts");
    h->list[h->count++].ranks = (int)ranks;
    return DDP_OK;
}

/* One host: NAME, NAME:N or NAME slots=N. */
static ddp_status read_host(ddp_hosts *h, const char *text, size_t bytes, int ranks, ddp_error *err)
{
    static const char slots[] = "slots=";
    char word[512], *number, *end;
    size_t name;
    long n = ranks;

    (void)snprintf(word, sizeof word, "%.*s", (int)bytes, text);
    name = strcspn(word, ": \t");
    number = word + name + strspn(word + name, ": \t");
    if (strncmp(number, slots, sizeof slots - 1) == 0)
        number += sizeof slots - 1;
    if (*number) {
        n = strtol(number, &end, 10);
        if (end[strspn(end, " \t")])
            n = 0;
    } else if (word[name] == ':') {
        n = 0;
    }
    if (name == 0 || n < 1 || n > MOST_RANKS)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_hosts wants hosts with commas between them, such as a,b:4, or a file "
                        "of them, not '%s'",
                        word);
    return add(h, word, name, n, err);
}

static ddp_status read_list(ddp_hosts *h, const char *text, int ranks, ddp_error *err)
{
    for (;;) {
        size_t bytes = strcspn(text, ",");

        if (read_host(h, text, bytes, ranks, err))
            return err->code;
        if (!text[bytes])
            return DDP_OK;
        text += bytes + 1;
    }
}

static ddp_status read_file(ddp_hosts *h, FILE *f, const char *path, int ranks, ddp_error *err)
{
    char line[512];

    while (fgets(line, sizeof line, f)) {
        char *from = line + strspn(line, " \t"), *end;

        from[strcspn(from, "#\r\n")] = '\0';
        end = from + strlen(from);
        while (end > from && isspace((unsigned char)end[-1]))
            end--;
        if (end > from && read_host(h, from, (size_t)(end - from), ranks, err))
            return err->code;
    }
    if (h->count == 0)
        return ddp_fail(err, DDP_ERR_USAGE, "%s names no host", path);
    return DDP_OK;
}

ddp_status ddp_hosts_read(ddp_hosts *h, const char *text, int ranks, ddp_error *err)
{
    FILE *f = fopen(text, "re");
    int why = errno;
    ddp_status st;

    *h = (ddp_hosts){.list = calloc(DDP_HOSTS_MAX, sizeof *h->list)};
    if (!h->list)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for hosts");
    else if (!f && strchr(text, '/')) /* in the name of no host */
        st = ddp_fail(err, DDP_ERR_USAGE, "-ddp_hosts %s: the file of hosts cannot be read: %s",
                      text, strerror(why));
    else
        st = f ? read_file(h, f, text, ranks, err) : read_list(h, text, ranks, err);
    if (f)
        (void)fclose(f);
    return st;
}

/* ---- addresses ---- */

int ddp_is_address(const char *name)
{
    struct in6_addr address;

    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

int ddp_hosts_have_domains(const ddp_hosts *h)
{
    for (size_t i = 0; i < h->count; i++)
        if (strchr(h->list[i].name, '.') && !ddp_is_address(h->list[i].name))
            return 1;
    return 0;
}

static int is_own_address(const char *name)
{
    struct ifaddrs *all = NULL;
    struct in_addr address;
    int found = 0;

    if (inet_pton(AF_INET, name, &address) != 1 || getifaddrs(&all))
        return 0;
    for (struct ifaddrs *a = all; a && !found; a = a->ifa_next)
        if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET)
            found = memcmp(&((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr, &address,
                           sizeof address)
                    == 0;
    freeifaddrs(all);
    return found;
}

int ddp_is_this_host(const char *name)
{
    char own[256] = "";

    (void)gethostname(own, sizeof own - 1);
    return strcmp(name, own) == 0 || strcmp(name, "localhost") == 0 || is_own_address(name);
}

/* The own address from which packets go to a host; nothing is sent. */
static int own_address_towards(const char *name, struct in_addr *own)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd, known = 0;

    if (getaddrinfo(name, "9", &hints, &found))
        return 0;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0)
        known = getsockname(fd, (struct sockaddr *)&address, &size) == 0;
    if (fd >= 0)
        (void)close(fd);
    freeaddrinfo(found);
    if (known)
        *own = address.sin_addr;
    return known;
}

/* The network that an own address is in. */
static int name_network(struct in_addr own, char *network, size_t size)
{
    struct ifaddrs *all = NULL;
    char text[INET_ADDRSTRLEN];
    int found = 0;

    if (getifaddrs(&all))
        return 0;
    for (struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
        const struct sockaddr_in *at = (void *)a->ifa_addr, *mask = (void *)a->ifa_netmask;
        struct in_addr base;

        if (!at || !mask || at->sin_family != AF_INET || at->sin_addr.s_addr != own.s_addr)
            continue;
        base.s_addr = own.s_addr & mask->sin_addr.s_addr;
        found = 1;
        (void)snprintf(network, size, "%s/%d", inet_ntop(AF_INET, &base, text, sizeof text),
                       __builtin_popcount(mask->sin_addr.s_addr));
    }
    freeifaddrs(all);
    return found;
}

int ddp_hosts_have_others(const ddp_hosts *h)
{
    for (size_t i = 0; i < h->count; i++)
        if (!h->list[i].unreachable && !ddp_is_this_host(h->list[i].name))
            return 1;
    return 0;
}

int ddp_hosts_network(const ddp_hosts *h, char *network, size_t size)
{
    struct in_addr own;

    for (size_t i = 0; i < h->count; i++)
        if (!h->list[i].unreachable && !ddp_is_this_host(h->list[i].name))
            return own_address_towards(h->list[i].name, &own) && name_network(own, network, size);
    return 0;
}

int ddp_hosts_ranks(const ddp_hosts *h)
{
    int ranks = 0;

    for (size_t i = 0; i < h->count; i++)
        ranks += h->list[i].unreachable ? 0 : h->list[i].ranks;
    return ranks;
}

char *ddp_hosts_argument(const ddp_hosts *h, int ranks)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *comma = "";

    if (!out)
        return NULL;
    for (size_t i = 0; i < h->count && ranks > 0; i++) {
        int here = h->list[i].ranks < ranks ? h->list[i].ranks : ranks;

        if (h->list[i].unreachable)
            continue;
        (void)fprintf(out, "%s%s:%d", comma,
                      ddp_mpirun_wants_localhost() && ddp_is_this_host(h->list[i].name)
                          ? "localhost"
                          : h->list[i].name,
                      here);
        comma = ",";
        ranks -= here;
    }
    (void)fclose(out);
    return text;
}
