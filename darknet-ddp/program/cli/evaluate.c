#include "cli/evaluate.h"

#include "cli/commands.h"
#include "launch/transport_choice.h"
#include "show/rank_output.h"

static void fail(const ddp_error *err) __attribute__((noreturn));

static void fail(const ddp_error *err)
{
    ddp_report_failure(err);
}

void ddp_measure_open(ddp_measure *m, const char *command, const char *data, const char *cfg,
                      const char *weights, const ddp_options *options, ddp_launcher launcher)
{
    ddp_network_shape shape;
    ddp_error err;

    *m = (ddp_measure){0};
    if (ddp_backend_open(&m->group, options, launcher, &err))
        fail(&err);
    ddp_report_open(m->group);
    m->rank = ddp_group_rank(m->group);
    if (ddp_gpus_open(&m->gpus, m->group, options, fail, &err)
        || ddp_validation_open(&m->validation, options, m->group, command, data, &err))
        fail(&err);
    if (!m->validation) {
        (void)ddp_fail(&err, DDP_ERR_USAGE, "%s has no valid=, a list of pictures", data);
        fail(&err);
    }
    m->net = ddp_command_load(&shape, cfg, options, m->gpus.gpu);
    if (m->rank > 0)
        ddp_report_quiet();
    ddp_network_read(m->net, weights);
    ddp_report_errors_only();
}

const ddp_validation_result *ddp_measure_run(ddp_measure *m, ddp_validation_listener listener,
                                             void *ctx)
{
    ddp_error err;

    if (ddp_validation_measure(m->validation, m->net, listener, ctx, &err))
        fail(&err);
    return ddp_validation_last(m->validation);
}

void ddp_measure_close(ddp_measure *m)
{
    ddp_network_free(m->net);
    ddp_validation_close(m->validation);
    ddp_group_close(m->group);
    ddp_gpus_release(&m->gpus);
}
