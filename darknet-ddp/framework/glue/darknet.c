#include "glue/darknet.h"

#include "base/suggest.h"

#include <darknet.h>
#include <layers/ema.h>
#include <layers/layer_table.h>
#include <stdio.h>
#include <string.h>

static void (*show_line)(const ddp_train_position *now, const char *line);

static void show(network *net, const char *line)
{
    ddp_train_position now = ddp_train_position_of(net);

    show_line(&now, line);
}

static void (*show_table)(const ddp_network_size *size, const char *table);

/* Without memory for the size of it nothing is shown: the table is no part of the work. */
static void take_table(const network *net, const char *table, size_t bytes)
{
    ddp_network_size size;
    ddp_error err;

    if (ddp_network_size_of(&size, net, &err))
        return;
    size.bytes = net->gpu_index >= 0 ? 0 : bytes;
    show_table(&size, table);
}

/* One of `words`, with ", " between them, that is like it: " (did you mean X?)"; else "". */
static const char *find_hint(const char *word, const char *words)
{
    static char copy[2048], text[DDP_SUGGEST_TEXT];
    ddp_suggest near = {.word = word};
    char *rest = NULL;

    (void)snprintf(copy, sizeof copy, "%s", words);
    for (char *w = strtok_r(copy, ", ", &rest); w; w = strtok_r(NULL, ", ", &rest))
        if (strcmp(w, word) != 0) /* a section in the wrong place */
            ddp_suggest_try(&near, w);
    if (!near.best)
        return "";
    (void)snprintf(text, sizeof text, " (did you mean %s?)", near.best);
    return text;
}

void ddp_darknet_configure(const ddp_darknet_config *config)
{
    cuda_fp32_only = config->fp32;
    cuda_deterministic = config->deterministic;
    gemm_any_threads = config->any_threads;
    cfg_allow_unknown_keys = config->allow_unknown_keys;
    weights_force = config->weights_force;
    labels_required = config->labels_required;
    train_loader_threads = config->loader_threads;
    train_verbose = config->verbose;
    averages_unsaved = config->average_unsaved;
    word_hint = find_hint;
    show_line = config->line;
    train_line_handler = config->line ? show : NULL;
    show_table = config->table;
    layer_table_handler = config->table ? take_table : NULL;
    save_handler = config->saves;
    if (config->fatal)
        fatal_handler = config->fatal;
}

void ddp_darknet_set_net_values(const ddp_net_value *values)
{
    static cfg_value taken[DDP_NET_VALUES_MOST + 1];
    int i = 0;

    for (; values[i].key && i < DDP_NET_VALUES_MOST; i++)
        taken[i] = (cfg_value){values[i].key, values[i].value};
    taken[i].key = NULL;
    cfg_net_values = taken;
}

const char *ddp_installed_path(const char *path)
{
    return shared_path((char *)path);
}
