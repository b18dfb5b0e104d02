#include "timing/hook_chain.h"

#include <blas.h>

static const train_hooks *inner_of(const void *ctx)
{
    const ddp_hook_chain *p = ctx;

    return p->inner;
}

static void forward_begin(void *ctx, network *net)
{
    const train_hooks *inner = inner_of(ctx);

    if (inner)
        inner->forward_begin(inner->ctx, net);
}

static void forward_layer(void *ctx, network *net, int layer)
{
    const train_hooks *inner = inner_of(ctx);

    if (inner)
        inner->forward_layer(inner->ctx, net, layer);
}

static void backward_begin(void *ctx, network *net)
{
    const train_hooks *inner = inner_of(ctx);

    if (inner)
        inner->backward_begin(inner->ctx, net);
}

static void gradient_ready(void *ctx, int layer)
{
    const train_hooks *inner = inner_of(ctx);

    if (inner)
        inner->gradient_ready(inner->ctx, layer);
}

static void progress(void *ctx)
{
    const train_hooks *inner = inner_of(ctx);

    if (inner)
        inner->progress(inner->ctx);
}

static void backward_end(void *ctx, network *net)
{
    const train_hooks *inner = inner_of(ctx);

    if (inner)
        inner->backward_end(inner->ctx, net);
}

static int update_layer(void *ctx, int layer)
{
    const train_hooks *inner = inner_of(ctx);

    return inner ? inner->update_layer(inner->ctx, layer) : 1;
}

static void optimize(int n, float *w, float *g, float *momentum, float *m, float *v, float rate,
                     float decay, update_args a)
{
    const train_hooks *inner = inner_of(a.optimize_ctx);

    a.optimize = inner ? inner->optimize : NULL;
    a.optimize_ctx = inner ? inner->ctx : NULL;
#ifdef GPU
    if (gpu_index >= 0) {
        optimize_gpu(n, w, g, momentum, m, v, rate, decay, a);
        return;
    }
#endif
    optimize_cpu(n, w, g, momentum, m, v, rate, decay, a);
}

static void settle(void *ctx, network *net)
{
    const train_hooks *inner = inner_of(ctx);

    if (inner)
        inner->settle(inner->ctx, net);
}

static float mean_loss(void *ctx, float loss)
{
    const train_hooks *inner = inner_of(ctx);

    return inner ? inner->mean_loss(inner->ctx, loss) : loss;
}

static void release(void *ctx, network *net)
{
    const train_hooks *inner = inner_of(ctx);

    if (inner)
        inner->release(inner->ctx, net);
}

const train_hooks ddp_hook_chain_hooks = {
    .forward_begin = forward_begin,
    .forward_layer = forward_layer,
    .backward_begin = backward_begin,
    .gradient_ready = gradient_ready,
    .progress = progress,
    .backward_end = backward_end,
    .update_layer = update_layer,
    .optimize = optimize,
    .settle = settle,
    .mean_loss = mean_loss,
    .release = release,
};
