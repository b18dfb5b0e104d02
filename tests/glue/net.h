/* Small networks for tests of the trainer. Include after cmocka.h. */
#ifndef DDP_TESTS_GLUE_NET_H
#define DDP_TESTS_GLUE_NET_H

#include "base/status.h"

#include <darknet.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Parse a cfg's text. parse_network_cfg wants a file, so it gets one in memory. */
static inline network *net_parse(const char *cfg)
{
    int fd = memfd_create("cfg", 0);
    char path[64];
    network *net;

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, cfg, strlen(cfg)) != (ssize_t)strlen(cfg))
        fail_msg("cannot write the cfg");
    net = parse_network_cfg(path);
    (void)close(fd);
    return net;
}

/* Print an error and abort: for ddp_trainer_config.fail. */
static inline void __attribute__((noreturn)) net_fail_hook(const ddp_error *err)
{
    (void)fprintf(stderr, "a hook failed: %s\n", err->text);
    abort();
}

#endif
