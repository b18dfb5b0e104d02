#include "run.h"

#include "arrays.h"
#include "comm/collectives.h"
#include "glue/param_table.h"
#include "timing/synthetic.h"

#include <math.h>
#include <string.h>

enum { DATA_SEED = 20, MAX_RANKS = 64 };

/* ---- which layers run ---- */

static int is_skipped(const run *r, int rank, int mini_batch, int update)
{
    const skip_rule *s = &r->skip;

    return s->layer >= 0 && update >= s->from && (s->rank < 0 || s->rank == rank)
           && (s->mini_batch < 0 || s->mini_batch == mini_batch);
}

/* Does layer run backward in any mini-batch of this update, on any rank? */
static int is_used(const run *r, int layer)
{
    if (layer < r->table.first_trained)
        return 0;
    if (layer > r->skip.layer)
        return 1;
    for (int rank = 0; rank < r->ranks; rank++)
        for (int m = 0; m < r->batch.per_rank; m++)
            if (!is_skipped(r, rank, m, r->update))
                return 1;
    return 0;
}

static int has_parameters(const run *r, int layer)
{
    for (size_t i = 0; i < r->table.param_count; i++)
        if (r->table.params[i].layer == layer)
            return 1;
    return 0;
}

/* ---- hooks around the trainer's ---- */

static void backward_end(void *ctx, network *net)
{
    const run *r = ctx;
    int done = (int)(*net->seen / (size_t)net->batch);

    ddp_hook_chain_hooks.backward_end(ctx, net);
    if (!r->as_ranks || r->probing || done % r->batch.per_rank != 0)
        return;
    rank_sum_add_rank(r->sum);
    if (done % net->subdivisions == 0)
        rank_sum_finish(r->sum);
}

static void keep_gradients(run *r, int layer)
{
    for (size_t i = 0; i < r->table.param_count; i++)
        if (r->table.params[i].layer == layer)
            array_read(&r->table, i, GRADIENTS, r->gradients);
}

/* An unused layer's gradient must be zero, or it leaks into the next update. */
static void check_zero_gradient(run *r, int layer)
{
    float *copy = arrays_copy(&r->table, GRADIENTS);
    int wrong = 0;

    for (size_t i = 0; i < r->table.param_count; i++) {
        const float *gradient = copy + array_offset(&r->table, i);

        for (size_t k = 0; r->table.params[i].layer == layer && k < r->table.params[i].count; k++)
            wrong |= gradient[k] != 0;
    }
    free(copy);
    if (wrong)
        (void)fprintf(stderr, "update %d: layer %d ran nowhere, but its gradient is not 0\n",
                      r->update, layer);
    r->wrong += wrong;
}

static int update_layer(void *ctx, int layer)
{
    run *r = ctx;
    int expected = is_used(r, layer);
    int used = r->passing.inner ? ddp_hook_chain_hooks.update_layer(r, layer) : expected;

    if (!has_parameters(r, layer) || r->defers) /* a deferred layer is not updated here */
        return used && !r->probing;
    if (used != expected) {
        (void)fprintf(stderr, "update %d: layer %d is taken for %s\n", r->update, layer,
                      used ? "used" : "unused");
        r->wrong++;
    }
    if (!used)
        check_zero_gradient(r, layer);
    if (r->update == 0)
        keep_gradients(r, layer);
    return used && !r->probing;
}

/* ---- the run ---- */

void run_open(run *r)
{
    ddp_error err;

    if (ddp_param_table_init(&r->table, r->net, r->device, &err))
        abort();
    r->gradients = calloc(array_offset(&r->table, r->table.param_count) + 1, sizeof(float));
    r->losses = calloc((size_t)r->updates, sizeof *r->losses);
    if (!r->gradients || !r->losses)
        abort();
    if (r->as_ranks)
        r->sum = rank_sum_open(&r->table, r->wire);
    r->passing.inner = r->net->hooks;
    r->hooks = ddp_hook_chain_hooks;
    r->hooks.ctx = r;
    r->hooks.backward_end = backward_end;
    r->hooks.update_layer = update_layer;
    r->net->hooks = &r->hooks;
}

void run_close(run *r)
{
    rank_sum_close(r->sum);
    ddp_param_table_release(&r->table);
    free(r->gradients);
    free(r->losses);
}

static void compare_ranks(run *r)
{
    uint64_t all[MAX_RANKS];
    ddp_error err;

    ddp_hook_chain_hooks.settle(r, r->net);
    if (!r->group)
        return;
    r->hash = arrays_hash(&r->table, 0, r->net->n);
    if (ddp_allgather(r->group, &r->hash, all, sizeof r->hash, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    for (int rank = 1; rank < r->ranks; rank++) {
        if (all[rank] == all[0])
            continue;
        (void)fprintf(stderr, "update %d: rank %d has other parameters than rank 0\n", r->update,
                      rank);
        r->wrong++;
    }
}

/* Layers that ran nowhere in this update must be as they were before it. */
static uint64_t hash_of_unused(const run *r)
{
    int last = -1;

    while (last + 1 < r->net->n && !is_used(r, last + 1))
        last++;
    return arrays_hash(&r->table, 0, last);
}

/* Mini-batch number `global` of the run; rank and local say whose it is. */
static double train_mini_batch(run *r, size_t global, int rank, int local)
{
    int stop = is_skipped(r, rank, local, r->update);
    int before = 0;
    float loss;

    if (stop) {
        before = r->net->layers[r->skip.layer].stopbackward;
        r->net->layers[r->skip.layer].stopbackward = 1;
    }
    ddp_synthetic_fill(r->net, DATA_SEED, global * (uint64_t)r->net->batch);
    loss = train_network_datum(r->net);
    if (stop)
        r->net->layers[r->skip.layer].stopbackward = before;
    return (double)loss;
}

/* A batch: on each rank its own mini-batches, in the reference all of them. */
static double train_batch(run *r, size_t batch)
{
    int rank = r->group ? ddp_group_rank(r->group) : 0;
    int count = r->group ? r->batch.per_rank : r->net->subdivisions;
    double sum = 0;

    for (int m = 0; m < count; m++) {
        int global = rank * r->batch.per_rank + m;

        sum += train_mini_batch(r, batch * (size_t)r->net->subdivisions + (size_t)global,
                                global / r->batch.per_rank, global % r->batch.per_rank);
    }
    return (double)train_mean_loss(r->net, (float)sum) / (count * r->net->batch);
}

float *run_probe(run *r)
{
    float *copy = arrays_copy(&r->table, GRADIENTS), *gradients; /* zeros */

    r->probing = 1;
    for (int b = 0; b < r->sync_every; b++)
        (void)train_batch(r, (size_t)b);
    r->probing = 0;
    *r->net->seen = 0;
    *r->net->t = 0;
    arrays_restore(&r->table, GRADIENTS, copy);
    gradients = r->gradients;
    r->gradients = copy;
    return gradients;
}

void run_train(run *r)
{
    for (r->update = 0; r->update < r->updates; r->update++) {
        uint64_t unused = hash_of_unused(r);

        for (int b = 0; b < r->sync_every; b++)
            r->losses[r->update] += train_batch(r, (size_t)(r->update * r->sync_every + b));
        if (!isfinite(r->losses[r->update])) {
            (void)fprintf(stderr, "update %d: the loss is %f\n", r->update, r->losses[r->update]);
            r->wrong++;
        }
        if (hash_of_unused(r) != unused) {
            (void)fprintf(stderr, "update %d: layers that ran nowhere have changed\n", r->update);
            r->wrong++;
        }
        compare_ranks(r);
    }
}
