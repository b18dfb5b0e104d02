#include "heartbeats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void heartbeats_note(void *ctx, int rank, int kind, const void *bytes, size_t count)
{
    char *text = ctx;
    size_t at = strlen(text);

    (void)snprintf(text + at, 256 - at, "%d:%d:%.*s ", rank, kind, (int)count, (const char *)bytes);
}

void heartbeats_poll(ddp_heartbeat *c, char *text)
{
    for (int i = 0; i < 10; i++)
        ddp_heartbeat_poll(c, 10, heartbeats_note, text);
}

ddp_heartbeat *heartbeats_join(const ddp_heartbeat_invitation *inv, int rank)
{
    ddp_heartbeat *c;
    ddp_error err;

    if (ddp_heartbeat_join(&c, inv, rank, 1000, &err))
        fail_msg("%s", err.text);
    return c;
}
