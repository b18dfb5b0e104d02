#include "run/trace.h"

#include "base/clock.h"
#include "core/agree.h"
#include "show/run_messages.h"
#include "timing/tracer.h"
#include "trainer/loader_trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The steps of the run that are traced where -ddp_trace_steps names none. */
enum { FIRST = 10, LAST = 12 };

static struct {
    const char *path; /* NULL: nothing is to be traced, or it was written */
    size_t first, last;
    ddp_group *group;
    ddp_trainer *trainer;
    ddp_trace *trace; /* NULL: not now */
    ddp_tracer *tracer;
    FILE *out; /* on rank 0 */
} run;

static ddp_status open_file(ddp_error *err)
{
    if (ddp_group_rank(run.group) != 0)
        return DDP_OK;
    run.out = fopen(run.path, "we");
    return run.out ? DDP_OK
                   : ddp_fail(err, DDP_ERR_IO, "-ddp_trace: cannot write %s: %s", run.path,
                              strerror(errno));
}

ddp_status ddp_trace_run_open(const ddp_options *options, ddp_group *group, ddp_trainer *t,
                              const ddp_train_position *start, ddp_error *err)
{
    char text[128];

    run.path = options->trace_run;
    run.first = start->step + FIRST;
    run.last = start->step + LAST;
    run.group = group;
    run.trainer = t;
    if (options->trace_steps)
        (void)ddp_options_read_steps(options->trace_steps, &run.first, &run.last);
    if (run.path)
        (void)snprintf(text, sizeof text, "-ddp_trace_steps %zu:%zu", run.first, run.last);
    else
        (void)snprintf(text, sizeof text, "no -ddp_trace");
    if (ddp_agree(group, text, err))
        return err->code;
    return run.path ? open_file(err) : DDP_OK;
}

static ddp_status begin(network *net, ddp_error *err)
{
    if (ddp_trace_open(&run.trace, err)
        || ddp_tracer_begin(&run.tracer, run.trace, run.group, run.trainer, net, err))
        return err->code;
    ddp_loader_trace_use(run.trace);
    return DDP_OK;
}

static ddp_status write_file(ddp_error *err)
{
    ddp_status st = ddp_trace_write(run.trace, run.group, run.out, err);
    int failed = run.out && ferror(run.out);

    failed |= run.out && fclose(run.out);
    run.out = NULL;
    if (st)
        return ddp_wrap(err, "-ddp_trace");
    if (failed)
        ddp_print_goes_on("cannot write all of %s", run.path);
    else if (ddp_group_rank(run.group) == 0)
        printf("DDP: steps %zu to %zu of all ranks are in %s, for ui.perfetto.dev\n", run.first,
               run.last, run.path);
    return DDP_OK;
}

/* Loaders may still tell of what they began before: the trace itself stays until the run ends. */
static ddp_status end(ddp_error *err)
{
    ddp_status st;

    ddp_loader_trace_use(NULL);
    ddp_tracer_end(run.tracer);
    run.tracer = NULL;
    st = write_file(err);
    run.path = NULL;
    return st;
}

ddp_status ddp_trace_run_step(network *net, const ddp_train_position *now, ddp_error *err)
{
    if (run.path && !run.tracer && now->step + 1 >= run.first && now->step < run.last)
        return begin(net, err);
    if (run.tracer && now->step >= run.last)
        return end(err);
    return DDP_OK;
}

void ddp_trace_run_add(int64_t begin_ns, const char *what)
{
    if (run.tracer)
        ddp_trace_add(run.trace, DDP_LANE_SAVES, begin_ns, ddp_clock_ns(), "%s", what);
}

ddp_status ddp_trace_run_close(ddp_error *err)
{
    if (run.tracer)
        return end(err);
    if (run.path && run.out) {
        (void)fprintf(stderr, "darknet: no step of %zu to %zu was made: %s is empty\n", run.first,
                      run.last, run.path);
        (void)fclose(run.out);
        run.out = NULL;
    }
    return DDP_OK;
}
