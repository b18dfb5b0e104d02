#include "glue/trainer.h"

#include "base/clock.h"
#include "core/agree.h"
#include "core/state.h"
#include "glue/fingerprint.h"
#include "glue/table.h"

struct ddp_trainer {
    ddp_group *group;
    ddp_trainer_config config;
    ddp_batch batch;

    network *net; /* NULL: not attached */
    train_hooks hooks;
    ddp_table table;
    ddp_reducer *reducer;
    ddp_buffers *buffers;
    float loss;
    ddp_allreduce *loss_sum;

    int64_t waited_ns; /* outside the reducer, since attach */
};

ddp_status ddp_trainer_open(ddp_trainer **out, ddp_group *group, const ddp_trainer_config *config,
                            ddp_error *err)
{
    ddp_trainer *t = calloc(1, sizeof *t);

    *out = NULL;
    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a trainer");
    t->group = group;
    t->config = *config;
    *out = t;
    return DDP_OK;
}

void ddp_trainer_close(ddp_trainer *t)
{
    if (!t)
        return;
    ddp_trainer_detach(t);
    free(t);
}

ddp_status ddp_trainer_split(ddp_trainer *t, int *batch, int *subdivisions, ddp_error *err)
{
    ddp_status st = ddp_batch_split(&t->batch, *batch, *subdivisions, ddp_group_size(t->group),
                                    t->config.batch_mode, err);

    if (st)
        return st;
    *batch = t->batch.batch;
    *subdivisions = t->batch.subdivisions;
    return DDP_OK;
}

ddp_batch ddp_trainer_batch(const ddp_trainer *t)
{
    return t->batch;
}

/* Mini-batches of all ranks since the network was new. */
static size_t mini_batches(const network *net)
{
    return *net->seen / (size_t)net->batch;
}

/* ---- hooks: Darknet calls these; an error ends the program ---- */

static void before_forward(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    size_t batch = (size_t)net->subdivisions;
    size_t update = batch * (size_t)net->accumulate;
    size_t done = mini_batches(net);
    int64_t start = ddp_clock_ns();
    ddp_error err;

    if (t->config.broadcast_buffers && done % batch == 0 && ddp_buffers_broadcast(t->buffers, &err))
        t->config.fail(&err);
    t->waited_ns += ddp_clock_ns() - start;
    ddp_reducer_backward_begin(t->reducer, (done + (size_t)net->world) % update == 0);
}

static void on_gradient_ready(void *ctx, int layer_index)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    if (ddp_reducer_layer_ready(t->reducer, layer_index, &err))
        t->config.fail(&err);
}

static void on_progress(void *ctx)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    if (ddp_reducer_progress(t->reducer, &err))
        t->config.fail(&err);
}

static void after_backward(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    (void)net;
    if (ddp_reducer_backward_end(t->reducer, &err))
        t->config.fail(&err);
}

/* Darknet updates from the last layer to the first, so layers whose gradients
 * have landed are updated while others still travel. */
static int before_update(void *ctx, int layer_index)
{
    ddp_trainer *t = ctx;
    ddp_error err;
    int used;

    if (ddp_reducer_layer_wait(t->reducer, layer_index, &used, &err))
        t->config.fail(&err);
    if (layer_index == 0)
        ddp_reducer_step_end(t->reducer);
    return used;
}

static float mean_loss(void *ctx, float loss)
{
    ddp_trainer *t = ctx;
    int64_t start = ddp_clock_ns();
    ddp_error err;

    t->loss = loss;
    if (ddp_allreduce_start(t->loss_sum, &err) || ddp_allreduce_wait(t->loss_sum, &err)) {
        (void)ddp_wrap(&err, "loss");
        t->config.fail(&err);
    }
    t->waited_ns += ddp_clock_ns() - start;
    return t->loss / (float)ddp_group_size(t->group);
}

static void before_free(void *ctx, network *net)
{
    (void)net;
    ddp_trainer_detach(ctx);
}

/* ---- attaching ---- */

/* Rank 0's counters. Update happens when seen is a multiple of an update's
 * images, so a count in between would shift every update that follows. */
static ddp_status share_counters(ddp_trainer *t, network *net, ddp_error *err)
{
    size_t images = (size_t)net->batch * (size_t)net->subdivisions * (size_t)net->accumulate;

    if (ddp_broadcast(t->group, net->seen, sizeof *net->seen, 0, err))
        return ddp_wrap(err, "seen");
    if (ddp_broadcast(t->group, net->t, sizeof *net->t, 0, err))
        return ddp_wrap(err, "t");
    *net->seen -= *net->seen % images;
    return DDP_OK;
}

static ddp_status share_state(ddp_trainer *t, network *net, ddp_error *err)
{
    ddp_status st = share_counters(t, net, err);

    if (!st)
        st = ddp_params_broadcast(t->group, &t->table, err);
    if (!st)
        st = ddp_buffers_open(&t->buffers, t->group, &t->table, err);
    if (!st)
        st = ddp_buffers_broadcast(t->buffers, err);
    return st;
}

static ddp_status compare_ranks(ddp_trainer *t, network *net, ddp_error *err)
{
    char *text;
    ddp_status st = ddp_fingerprint(&text, net, &t->table, &t->config, err);

    if (!st)
        st = ddp_agree(t->group, text, err);
    free(text);
    return st;
}

ddp_status ddp_trainer_attach(ddp_trainer *t, network *net, ddp_error *err)
{
    int size = ddp_group_size(t->group);
    ddp_status st;

    net->world = size;
    net->accumulate = t->config.sync_every;
    if (t->config.batch_mode == DDP_BATCH_RANK)
        net->learning_rate *= (float)size;
    st = ddp_table_init(&t->table, net, err);
    if (st)
        return st;
    st = compare_ranks(t, net, err);
    if (!st)
        st = share_state(t, net, err);
    if (!st)
        st = ddp_reducer_open(&t->reducer, t->group, &t->table, &t->config.reducer, err);
    if (!st)
        st = ddp_allreduce_open(&t->loss_sum, t->group, &t->loss, 1, err);
    t->net = net;
    t->waited_ns = 0;
    if (st) {
        ddp_trainer_detach(t);
        return st;
    }
    t->hooks = (train_hooks){
        .ctx = t,
        .forward_begin = before_forward,
        .gradient_ready = on_gradient_ready,
        .progress = on_progress,
        .backward_end = after_backward,
        .update_layer = before_update,
        .mean_loss = mean_loss,
        .release = before_free,
    };
    net->hooks = &t->hooks;
    return DDP_OK;
}

void ddp_trainer_detach(ddp_trainer *t)
{
    if (!t->net)
        return;
    ddp_reducer_close(t->reducer);
    ddp_buffers_close(t->buffers);
    ddp_allreduce_close(t->loss_sum);
    ddp_table_release(&t->table);
    t->reducer = NULL;
    t->buffers = NULL;
    t->loss_sum = NULL;
    t->net->hooks = NULL;
    t->net = NULL;
}

ddp_reducer *ddp_trainer_reducer(const ddp_trainer *t)
{
    return t->reducer;
}

const ddp_table *ddp_trainer_table(const ddp_trainer *t)
{
    return &t->table;
}

int64_t ddp_trainer_communication_ns(const ddp_trainer *t)
{
    ddp_reducer_times times = ddp_reducer_total_times(t->reducer);

    return times.wait_ns + times.drive_ns + t->waited_ns;
}
