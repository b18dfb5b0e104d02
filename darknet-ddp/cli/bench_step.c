#include "cli/bench_step.h"

#include <darknet.h>

/* Marks: the start, two for each mini-batch, the update's end, the step's end. */
enum { MARKS_A_MINI_BATCH = 2, OTHER_MARKS = 3 };

struct ddp_step_clock {
    ddp_group *group;
    ddp_trainer *trainer;
    network *net;
    int on_host;
    int mini_batches;
    ddp_mark **marks;
    int mark_count;

    /* Of the last step: communication until its start and until its update, in its two kinds of
     * passes, and on the host until the update's end. */
    int64_t before_ns, before_update_ns, after_update_ns;
    int64_t in_forward_ns, in_backward_ns;
};

ddp_status ddp_step_clock_open(ddp_step_clock **out, ddp_group *group, ddp_trainer *t, network *net,
                               int mini_batches, ddp_error *err)
{
    ddp_device *device = ddp_group_device(group);
    ddp_step_clock *c = calloc(1, sizeof *c);

    *out = NULL;
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a clock");
    *c = (ddp_step_clock){.group = group,
                          .trainer = t,
                          .net = net,
                          .on_host = ddp_device_is_host(device),
                          .mini_batches = mini_batches,
                          .mark_count = MARKS_A_MINI_BATCH * mini_batches + OTHER_MARKS};
    c->marks = calloc((size_t)c->mark_count, sizeof(ddp_mark *));
    if (!c->marks) {
        (void)ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d marks", c->mark_count);
        ddp_step_clock_close(c);
        return err->code;
    }
    for (int i = 0; i < c->mark_count; i++)
        if (ddp_mark_open(&c->marks[i], device, err)) {
            ddp_step_clock_close(c);
            return err->code;
        }
    *out = c;
    return DDP_OK;
}

void ddp_step_clock_close(ddp_step_clock *c)
{
    if (!c)
        return;
    for (int i = 0; c->marks && i < c->mark_count; i++)
        ddp_mark_close(c->marks[i]);
    free(c->marks);
    free(c);
}

/* Communication so far. On a GPU, in what it has done: what is still queued for it is waited for,
 * so this is called only where training waits for the GPU, too. */
static ddp_status read_communication(const ddp_step_clock *c, int64_t *ns, ddp_error *err)
{
    ddp_status st = ddp_group_settle(c->group, err);

    *ns = ddp_trainer_communication_ns(c->trainer);
    return st;
}

/* As train_network_datum, less the update. */
static ddp_status run_mini_batch(ddp_step_clock *c, int m, int64_t *communication_ns,
                                 ddp_error *err)
{
    network *net = c->net;
    const train_hooks *hooks = net->hooks;
    int64_t before = *communication_ns, between = 0;

    if (hooks)
        hooks->forward_begin(hooks->ctx, net);
    net->sample = train_sample(net);
    *net->seen += (size_t)net->batch * (size_t)net->world;
    net->train = 1;
    forward_network(net);
    ddp_mark_set(c->marks[MARKS_A_MINI_BATCH * m + 1]);
    if (c->on_host && read_communication(c, &between, err))
        return err->code;
    if (hooks)
        hooks->backward_begin(hooks->ctx, net);
    backward_network(net);
    if (hooks)
        hooks->backward_end(hooks->ctx, net);
    ddp_mark_set(c->marks[MARKS_A_MINI_BATCH * m + 2]);
    if (read_communication(c, communication_ns, err))
        return err->code;
    if (!c->on_host)
        between = *communication_ns; /* no work of a backward pass waits for sums */
    c->in_forward_ns += between - before;
    c->in_backward_ns += *communication_ns - between;
    return DDP_OK;
}

ddp_status ddp_step_run(ddp_step_clock *c, ddp_error *err)
{
    int64_t communication_ns;

    if (read_communication(c, &communication_ns, err))
        return err->code;
    c->before_ns = communication_ns;
    c->in_forward_ns = 0;
    c->in_backward_ns = 0;
    ddp_mark_set(c->marks[0]);
    for (int m = 0; m < c->mini_batches; m++)
        if (run_mini_batch(c, m, &communication_ns, err))
            return err->code;
    c->before_update_ns = communication_ns;
    update_network(c->net);
    ddp_mark_set(c->marks[c->mark_count - 2]);
    c->after_update_ns = ddp_trainer_communication_ns(c->trainer);
    (void)train_mean_loss(c->net, *c->net->cost);
    ddp_mark_set(c->marks[c->mark_count - 1]);
    return DDP_OK;
}

ddp_status ddp_step_read(ddp_step_clock *c, ddp_step_times *times, ddp_error *err)
{
    ddp_mark *const *marks = c->marks;
    int64_t end_ns;

    *times = (ddp_step_times){0};
    ddp_device_synchronize(ddp_group_device(c->group));
    if (read_communication(c, &end_ns, err))
        return err->code;
    if (!c->on_host)
        c->after_update_ns = end_ns;
    for (int i = 0; i < MARKS_A_MINI_BATCH * c->mini_batches; i += MARKS_A_MINI_BATCH) {
        times->forward += ddp_mark_seconds(marks[i], marks[i + 1]);
        times->backward += ddp_mark_seconds(marks[i + 1], marks[i + 2]);
    }
    times->update = ddp_mark_seconds(marks[c->mark_count - 3], marks[c->mark_count - 2]);
    times->forward -= (double)c->in_forward_ns / 1e9;
    times->backward -= (double)c->in_backward_ns / 1e9;
    times->update -= (double)(c->after_update_ns - c->before_update_ns) / 1e9;
    times->exposed = (double)(end_ns - c->before_ns) / 1e9;
    times->step = ddp_mark_seconds(marks[0], marks[c->mark_count - 1]);
    return DDP_OK;
}

ddp_mark *const *ddp_step_marks(const ddp_step_clock *c, int *mini_batches)
{
    *mini_batches = c->mini_batches;
    return c->marks;
}
