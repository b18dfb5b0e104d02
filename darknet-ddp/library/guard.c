#include "library/guard.h"

#include <darknet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local jmp_buf place;
static _Thread_local char *said;
static _Thread_local size_t room;

/* Darknet's fatal_in_thread, which must not return. */
static void give_up(const char *message)
{
    (void)snprintf(said, room, "%s", message);
    said[strcspn(said, "\n")] = '\0';
    longjmp(place, 1);
}

int ddp_guard_run(void (*work)(void *ctx), void *ctx, char *error, size_t size)
{
    /* Parsing sets both, and gives them back when it ends. */
    const train_plugin *plugin;
    const cfg_value *values;
    int failed;

    (void)pthread_mutex_lock(&one_at_a_time);
    plugin = train_plugin_active;
    values = cfg_net_values;
    said = error;
    room = size;
    fatal_in_thread = give_up;
    ddp_memory_guard_begin();
    failed = setjmp(place);
    if (!failed)
        work(ctx);
    fatal_in_thread = NULL;
    fatal_about = NULL;
    train_plugin_active = plugin;
    cfg_net_values = values;
    if (failed)
        ddp_memory_guard_drop();
    else
        ddp_memory_guard_keep();
    (void)pthread_mutex_unlock(&one_at_a_time);
    return failed ? -1 : 0;
}
