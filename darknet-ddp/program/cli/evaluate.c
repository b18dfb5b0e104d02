#include "cli/evaluate.h"

#include "inputs/arguments.h"
#include "launch/transport_choice.h"
#include "show/rank_output.h"

#include <stdio.h>

static void fail(const ddp_error *err) __attribute__((noreturn));

static void fail(const ddp_error *err)
{
    ddp_rank_output_failure(err);
}

void ddp_evaluate_open(ddp_evaluate *m, const char *command, const ddp_command_call *call)
{
    const char *data = call->words[0], *cfg = call->words[1], *weights = call->words[2];
    ddp_network_shape shape;
    char misfit[DDP_NETWORK_TEXT];
    const ddp_arguments words = {
        .command = command, .data = data, .cfg = cfg, .weights = weights, .validates = 1};
    ddp_error err;

    *m = (ddp_evaluate){0};
    if (ddp_backend_open(&m->group, call->options, call->launcher, &err))
        fail(&err);
    ddp_rank_output_open(m->group);
    m->rank = ddp_group_rank(m->group);
    if (ddp_arguments_check_places(&words, &err)
        || ddp_gpus_open(&m->gpus, m->group, call->options, fail, &err)
        || ddp_validation_open(&m->validation, call->options, m->group, command, data, &err))
        fail(&err);
    if (!m->validation) {
        (void)ddp_fail(&err, DDP_ERR_USAGE, "%s has no valid=, a list of pictures", data);
        fail(&err);
    }
    m->net = ddp_command_load(&shape, cfg, call->options, m->gpus.gpu, 0);
    if (m->rank == 0 && ddp_network_bad_size(m->net, misfit))
        (void)fprintf(stderr, "%s: %s\n", cfg, misfit);
    if (m->rank > 0)
        ddp_rank_output_hide_errors();
    ddp_network_read_weights(m->net, weights);
    ddp_rank_output_show_errors();
}

const ddp_validation_result *ddp_evaluate_run(ddp_evaluate *m, ddp_found_listener found, void *ctx)
{
    const ddp_validation_listener listener = {found, ctx, ddp_report_print};
    ddp_error err;

    if (ddp_validation_measure(m->validation, m->net, &listener, &err))
        fail(&err);
    return ddp_validation_last(m->validation);
}

void ddp_evaluate_close(ddp_evaluate *m)
{
    ddp_network_free(m->net);
    ddp_validation_close(m->validation);
    ddp_group_close(m->group);
    ddp_gpus_release(&m->gpus);
}
