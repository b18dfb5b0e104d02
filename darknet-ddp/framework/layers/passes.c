#include "layers/passes.h"

#include "blas.h"
#include "layers/bf16/bf16.h"
#include "layers/deltas.h"
#include "network.h"

// ---- on a CPU ----

static void nothing(network *net)
{
    (void)net;
}

static void forward_layer(layer l, network *net)
{
    l.forward(l, *net);
    if (l.bf16)
        bf16_convert_output(l);
    net->input = l.output;
    if (l.truth)
        net->truth = l.output;
}

static int begin_backward(layer *l, network *net, const network *whole)
{
    int i = net->index;
    if (l->bf16)
        bf16_combine_deltas(l);
    net->input = i ? net->layers[i - 1].output : whole->input;
    net->delta = i ? net->layers[i - 1].delta : whole->delta;
    return net->delta || l->update || bf16_runs(*l) || (i && bf16_runs(net->layers[i - 1]));
}

static void backward_layer(layer l, network net)
{
    l.backward(l, net);
}

static void update_layer(layer l, update_args a)
{
    if (l.update)
        l.update(l, a);
}

static void zero_delta(layer l)
{
    if (l.delta)
        fill_cpu(l.outputs * l.batch, 0, l.delta, 1);
}

static const pass_device pass_on_cpu = {
    .begin_forward = nothing,
    .forward = forward_layer,
    .end_forward = calc_network_cost,
    .begin_backward = begin_backward,
    .backward = backward_layer,
    .end_backward = nothing,
    .update = update_layer,
    .zero_delta = zero_delta,
};

static const pass_device *device_of(const network *net)
{
#ifdef GPU
    if (net->gpu_index >= 0)
        return &pass_on_gpu;
#endif
    (void)net;
    return &pass_on_cpu;
}

// ---- forward and backward ----

void forward_network(network *netp)
{
    const pass_device *device = device_of(netp);
    device->begin_forward(netp);
    begin_deltas(netp, device->zero_delta);
    network net = *netp;
    for (net.index = 0; net.index < net.n; ++net.index) {
        if (net.hooks)
            net.hooks->forward_layer(net.hooks->ctx, netp, net.index);
        if (!is_left_out(net, net.index))
            device->forward(net.layers[net.index], &net);
    }
    device->end_forward(netp);
}

// Does the backward pass end before this layer, in the mini-batch that was begun last?
// stopbackward=1: always, stopbackward=N: until batch N.
static int stops_backward(network *net, layer l)
{
    size_t begun = *net->seen ? (*net->seen - 1) / (size_t)(net->batch * net->subdivisions) : 0;
    return l.stopbackward == 1 || (int)begun < l.stopbackward;
}

int first_learning_layer(network *net)
{
    int i;
    for (i = net->n - 1; i >= 0; --i)
        if (stops_backward(net, net->layers[i]))
            return i + 1;
    return 0;
}

void backward_network(network *netp)
{
    const pass_device *device = device_of(netp);
    network net = *netp;
    int first = first_learning_layer(netp);
    for (net.index = net.n - 1; net.index >= first; --net.index) {
        layer *l = net.layers + net.index;
        if (is_left_out(net, net.index))
            continue;
        if (device->begin_backward(l, &net, netp)) {
            prepare_deltas(net, device->zero_delta);
            device->backward(*l, net);
        }
        announce_gradients(net);
        let_messages_move(net);
    }
    device->end_backward(netp);
}

// ---- update ----

// Darknet has always gone on to decay what stopbackward=1 freezes; what learns later is left alone
// until then.
static int first_updated_layer(network *net)
{
    int i;
    for (i = net->n - 1; i >= 0; --i)
        if (net->layers[i].stopbackward > 1 && stops_backward(net, net->layers[i]))
            return i + 1;
    return 0;
}

void update_layer_of(network *net, int layer_index)
{
    device_of(net)->update(net->layers[layer_index], net->update);
}

void update_network(network *net)
{
    int i, first = first_updated_layer(net);
    const train_hooks *hooks = net->hooks;
    net->update = (update_args){
        .batch = net->batch * net->subdivisions * net->accumulate,
        .learning_rate = get_current_rate(net),
        .momentum = net->momentum,
        .decay = net->decay,
        .adam = net->adam,
        .B1 = net->B1,
        .B2 = net->B2,
        .eps = net->eps,
        .t = ++*net->t,
        .gradients_seen = &net->gradients_seen,
        .optimize = hooks ? hooks->optimize : 0,
        .optimize_ctx = hooks ? hooks->ctx : 0,
    };
    for (i = net->n - 1; i >= 0; --i)
        if ((!hooks || hooks->update_layer(hooks->ctx, i)) && i >= first)
            update_layer_of(net, i);
}
