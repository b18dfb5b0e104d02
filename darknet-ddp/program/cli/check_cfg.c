#include "cli/check_cfg.h"

#include "check/training_values.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "core/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 16 };

/* Or "darknet: " before it. */
void ddp_check_add_said(ddp_faults *f, const char *kind, const char *file, const char *line)
{
    static const char prefix[] = "darknet: ";
    size_t name = strlen(file);
    long number = 0;
    char *end;

    if (strncmp(line, prefix, strlen(prefix)) == 0)
        line += strlen(prefix);
    if (strncmp(line, file, name) == 0 && line[name] == ':') {
        line += name + 1;
        number = strtol(line, &end, 10);
        if (end > line && *end == ':')
            line = end + 1;
        while (*line == ' ')
            line++;
    }
    ddp_fault_add(f, DDP_FAULT_ERROR, kind, file, (int)number, "%s",
                  *line ? line : "training cannot read it");
}

/* Add an error if one process could not cut the cfg's batch into mini-batches. `ddp plan` only
 * mentions that, since it may be asked about other sizes. */
static void check_batch(ddp_faults *f, const char *path, const ddp_cfg_text *cfg)
{
    ddp_cfg_section net;
    size_t at = 0;
    const ddp_cfg_line *batch, *subdivisions;
    ddp_batch cut;
    ddp_error why;

    if (!ddp_cfg_next_section(cfg, &at, &net))
        return;
    batch = ddp_cfg_find(&net, "batch");
    subdivisions = ddp_cfg_find(&net, "subdivisions");
    if (ddp_batch_split(&cut, ddp_cfg_whole(batch, 1), ddp_cfg_whole(subdivisions, 1), 1,
                        DDP_BATCH_GLOBAL, NULL, &why))
        ddp_fault_add(f, DDP_FAULT_ERROR, "cfg-batch", path, batch ? batch->number : 0, "%s",
                      why.text);
}

ddp_status ddp_check_cfg_trainable(const char *path, const ddp_cfg_text *cfg, ddp_error *err)
{
    ddp_cfg_section s;

    for (size_t at = 0; ddp_cfg_next_section(cfg, &at, &s);)
        if (s.title && (strcmp(s.title->key, "[gru]") == 0 || strcmp(s.title->key, "[lstm]") == 0))
            return ddp_fail(err, DDP_ERR_FORMAT,
                            "%s:%d: %s: Darknet does not train such a layer correctly; nothing "
                            "else was checked",
                            path, s.title->number, s.title->key);
    return DDP_OK;
}

/* Add what is only seen in the parsed network. */
static void check_layers(ddp_faults *f, const char *path, const ddp_options *options)
{
    char text[DDP_NETWORK_TEXT], sizes[DDP_NETWORK_TEXT];
    ddp_network_shape shape;
    network *net = ddp_command_load(&shape, path, options, -1, 0);

    if (ddp_network_bad_size(net, text))
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-cells", path, 0, "%s", text);
    if (ddp_network_untrained_size(net, sizes))
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-sizes", path, 0, "%s", sizes);
    ddp_network_free(net);
}

/* `ddp plan` parses, and trains nothing. */
static int ask_to_parse(const char *path, const ddp_options *o, char text[TEXT])
{
    const struct {
        const char *option;
        int value; /* 0: not given */
    } given[] = {{"-width", o->net_width},
                 {"-height", o->net_height},
                 {"-batch", o->cfg_batch},
                 {"-subdivisions", o->subdivisions}};
    enum { GIVEN = sizeof given / sizeof given[0] };
    const char *args[7 + 2 * GIVEN + 1] = {"darknet", "ddp", "plan", path, "-np", "1"};
    char values[GIVEN][16];
    int count = 6;

    if (o->allow_unknown_keys)
        args[count++] = "-allow_unknown_keys";
    for (int i = 0; i < GIVEN; i++)
        if (given[i].value) {
            (void)snprintf(values[i], sizeof values[i], "%d", given[i].value);
            args[count++] = given[i].option;
            args[count++] = values[i];
        }
    return ddp_ask(args, text, TEXT);
}

void ddp_check_cfg(ddp_faults *f, const char *path, const ddp_cfg_text *cfg,
                   const ddp_options *options)
{
    static char text[TEXT];

    if (ask_to_parse(path, options, text) != 0) {
        ddp_check_add_said(f, "cfg-refused", path, ddp_ask_last_line(text));
        return;
    }
    check_batch(f, path, cfg);
    ddp_check_training_values(f, path, cfg);
    check_layers(f, path, options);
}
