/* The commands `darknet detector valid`, which writes to files what weights find on the pictures of
 * valid=, and `darknet classifier valid`. They print how good weights are, if there are labels. */
#include "cli/evaluate.h"
#include "show/rank_output.h"
#include "validate/result_files.h"

struct writing {
    ddp_results_config config;
    int has_truth;
    char written[1024];
};

/* On rank 0. */
static void write_found(void *ctx, const ddp_detection *found, size_t count,
                        const ddp_truth *truths, size_t truth_count)
{
    struct writing *w = ctx;
    ddp_error err;

    (void)truths;
    w->has_truth = truth_count > 0;
    if (ddp_results_write(&w->config, found, count, w->written, sizeof w->written, &err))
        ddp_rank_output_failure(&err);
}

static const char *or_else(const char *value, const char *fallback)
{
    return value ? value : fallback;
}

int ddp_command_valid(const ddp_command_call *call)
{
    struct writing w = {.config = {.name = call->options->results}};
    const ddp_validation_result *result;
    ddp_evaluate m;
    ddp_error err;

    ddp_evaluate_open(&m, "detector", call);
    result = ddp_validation_kind(m.validation);
    w.config.folder = or_else(ddp_validation_key(m.validation, "results"), "results");
    w.config.format = or_else(ddp_validation_key(m.validation, "eval"), "voc");
    w.config.names = result->names;
    w.config.classes = result->classes;
    w.config.paths = ddp_validation_pictures(m.validation, &w.config.path_count);
    if (ddp_validation_check_detector(m.validation, m.net, &err)
        || (m.rank == 0 && ddp_results_check(&w.config, &err)))
        ddp_rank_output_failure(&err);
    result = ddp_evaluate_run(&m, write_found, &w);
    if (m.rank == 0) {
        if (w.has_truth) /* else the list is of pictures whose truth others keep */
            ddp_print_precision(result, call->options->points);
        else
            ddp_validation_say_left_out(result);
        printf("what was found is in %s\n", w.written);
        printf("Total Detection Time: %f Seconds\n", result->seconds);
    }
    ddp_evaluate_close(&m);
    return 0;
}

int ddp_command_top(const ddp_command_call *call)
{
    const ddp_validation_result *result;
    ddp_evaluate m;

    ddp_evaluate_open(&m, "classifier", call);
    result = ddp_evaluate_run(&m, NULL, NULL);
    if (m.rank == 0)
        printf("%zu pictures: top 1: %f, top %d: %f, loss: %f, %f seconds\n",
               result->accuracy.pictures, result->accuracy.top1, result->top, result->accuracy.topk,
               result->accuracy.loss, result->seconds);
    ddp_evaluate_close(&m);
    return 0;
}
