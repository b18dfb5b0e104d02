#include "launch/ports.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Can this host listen on the port? */
static int is_free(unsigned int port)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int taken = fd >= 0 && bind(fd, (struct sockaddr *)&any, sizeof any) && errno == EADDRINUSE;

    if (fd >= 0)
        (void)close(fd);
    return !taken;
}

/* One of the `count` ports from first on that is free here, the drawn one if it is. */
static unsigned int free_port(unsigned int first, unsigned int count, unsigned int drawn)
{
    for (unsigned int i = 0; i < count; i++)
        if (is_free(first + (drawn + i) % count))
            return first + (drawn + i) % count;
    return first + drawn % count;
}

void ddp_draw_ports(char *out, size_t size)
{
    enum { FIRST = 46900, A_QUARTER = 25 };
    unsigned int drawn[4] = {0, 1, 2, 3};
    size_t length = 0;

    (void)!getrandom(drawn, sizeof drawn, 0);
    for (unsigned int i = 0; i < 4; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%u", i ? "," : "",
                                   free_port(FIRST + i * A_QUARTER, A_QUARTER, drawn[i]));
}
