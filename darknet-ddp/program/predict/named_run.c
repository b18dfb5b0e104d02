#include "predict/named_run.h"

#include "base/path.h"
#include "inputs/text_file.h"
#include "options/ddp_commands.h"
#include "predict/own_weights.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return a copy of what stands behind `key` in the last line that begins with it: a run that was
 * resumed has several. NULL: there is no such line, or no memory. */
static char *find_value(const ddp_lines *log, const char *key)
{
    size_t length = strlen(key);

    for (size_t i = log->count; i > 0; i--)
        if (strncmp(log->all[i - 1], key, length) == 0)
            return strdup(log->all[i - 1] + length);
    return NULL;
}

/* Set words to the .data file and the cfg that the log of a run names. */
static ddp_status read_log(char *words[2], const char *run, ddp_error *err)
{
    char path[PATH_MAX];
    ddp_lines log = {0};
    ddp_status st;

    (void)snprintf(path, sizeof path, "%s.log", run);
    st = ddp_lines_read(&log, path, err);
    if (!st) {
        words[0] = find_value(&log, "# data ");
        words[1] = find_value(&log, "# cfg ");
        if (!words[0] || !words[1])
            st =
                ddp_fail(err, DDP_ERR_FORMAT,
                         "%s does not tell the .data file and the cfg of the run: name both", path);
    }
    ddp_lines_release(&log);
    return st;
}

static ddp_status find_weights(ddp_own_weights *own, const char *run, ddp_error *err)
{
    char *folder = ddp_path_folder(run);
    ddp_status st = folder ? ddp_own_weights_find(own, folder, ddp_path_name(run), err)
                           : ddp_fail(err, DDP_ERR_NOMEM, "no memory for a path");

    free(folder);
    return st;
}

ddp_status ddp_named_run_expand(int *argc, char **argv, ddp_options *options, ddp_error *err)
{
    static ddp_own_weights own; /* for the whole process */
    static char page[PATH_MAX];
    const ddp_ddp_command *command = *argc == 4 ? ddp_ddp_command_find(argv[2]) : NULL;
    char *run = argv[3];

    if (!command || !(command->traits & DDP_COMMAND_OF_RUN))
        return DDP_OK;
    if (read_log(argv + 3, run, err))
        return ddp_wrap(err, "%s wants DATA CFG, or the name of a run, such as backup/x", argv[2]);
    if (find_weights(&own, run, err))
        return err->code;
    memcpy(argv + 5, own.paths, own.count * sizeof *own.paths);
    *argc = 5 + (int)own.count;
    argv[*argc] = NULL;
    if (!options->out) {
        (void)snprintf(page, sizeof page, "%s.%s.html", run, argv[2]);
        options->out = page;
    }
    return DDP_OK;
}
