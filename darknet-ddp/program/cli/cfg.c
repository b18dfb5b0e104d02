#include "cli/cfg_templates.h"
#include "cli/commands.h"
#include "show/rank_output.h"

#include <errno.h>
#include <string.h>

static void check_name(const char *name, int classes)
{
    FILE *nowhere = fopen("/dev/null", "w");
    ddp_error err;
    int known = nowhere && ddp_template_write(nowhere, name, classes);

    if (nowhere)
        (void)fclose(nowhere);
    if (known)
        return;
    (void)ddp_fail(&err, DDP_ERR_USAGE, "no cfg of the name %s is known; these are: %s", name,
                   ddp_template_names);
    ddp_rank_output_failure(&err);
}

int ddp_command_cfg(const char *name, const ddp_options *options)
{
    int classes = options->classes ? options->classes : 80;
    FILE *out = stdout;
    ddp_error err;
    int failed;

    check_name(name, classes);
    if (options->out)
        out = fopen(options->out,
                    "wx"); /* a cfg that somebody has changed since is not written over */
    if (out)
        (void)ddp_template_write(out, name, classes);
    failed = !out || ferror(out) || (options->out ? fclose(out) : fflush(out));
    if (!failed)
        return 0;
    (void)ddp_fail(&err, DDP_ERR_IO, "cannot write %s: %s", options->out ? options->out : "the cfg",
                   strerror(errno));
    ddp_rank_output_failure(&err);
}
