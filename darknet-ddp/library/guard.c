#include "library/guard.h"

#include "layers/catch_fatal.h"

#include <darknet.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

int ddp_guard_run(void (*work)(void *ctx), void *ctx, char *error, size_t size)
{
    /* Parsing sets both, and gives them back when it ends. */
    const train_plugin *plugin;
    const cfg_value *values;
    int returned;

    (void)pthread_mutex_lock(&one_at_a_time);
    plugin = train_plugin_active;
    values = cfg_net_values;
    ddp_memory_guard_begin();
    returned = catch_fatal(work, ctx, error, size);
    fatal_about = NULL;
    train_plugin_active = plugin;
    cfg_net_values = values;
    if (returned)
        ddp_memory_guard_keep();
    else
        ddp_memory_guard_drop();
    (void)pthread_mutex_unlock(&one_at_a_time);
    if (!returned)
        error[strcspn(error, "\n")] = '\0';
    return returned ? 0 : -1;
}
