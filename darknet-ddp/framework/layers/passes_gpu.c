#include "layers/passes.h"

#ifdef GPU
#include "blas.h"
#include "cuda.h"
#include "layers/bf16/bf16.h"
#include "network.h"

static size_t values_of_input(const network *net)
{
    return (size_t)net->inputs * (size_t)net->batch;
}

// ---- losses: they lie on the device, and come in one transfer while the backward pass computes
// ----

static float *loss_on_gpu(layer l)
{
    if (l.type == COST)
        return l.output_gpu;
    return l.type == LOGXENT || (l.type == SOFTMAX && !l.noloss) ? l.loss_gpu : 0;
}

// How many values of net->cost_gpu layers before this one have.
static size_t costs_before(const network *net, int index)
{
    int i;
    size_t count = (size_t)net->n;
    for (i = 0; i < index; ++i)
        count += net->layers[i].report_gpu ? HEAD_FIGURES : 0;
    return count;
}

static void make_cost_arrays(network *net)
{
    size_t count = costs_before(net, net->n);
    if (net->cost_gpu)
        return;
    net->cost_gpu = cuda_make_array(0, count);
    net->cost_host = cuda_make_host_array(count);
    net->cost_pulled = cuda_make_event();
}

void free_cost_arrays(network *net)
{
    if (!net->cost_gpu)
        return;
    cuda_free(net->cost_gpu);
    cuda_free_host_array(net->cost_host);
    check_error(cudaEventDestroy(net->cost_pulled));
}

static void start_pulling_cost(network *net)
{
    int i;
    size_t bytes = costs_before(net, net->n) * sizeof(float);
    for (i = 0; i < net->n; ++i) {
        layer l = net->layers[i];
        if (loss_on_gpu(l))
            sum_gpu((size_t)l.batch * (size_t)l.inputs, loss_on_gpu(l), net->cost_gpu + i);
    }
    check_error(cudaMemcpyAsync(net->cost_host, net->cost_gpu, bytes, cudaMemcpyDeviceToHost, 0));
    check_error(cudaEventRecord(net->cost_pulled, 0));
}

// Wait for what was queued before start_pulling_cost, and for nothing behind it.
static void finish_pulling_cost(network *netp)
{
    network net = *netp;
    check_error(cudaEventSynchronize(net.cost_pulled));
    for (net.index = 0; net.index < net.n; ++net.index) {
        layer l = net.layers[net.index];
        if (loss_on_gpu(l))
            l.cost[0] = net.cost_host[net.index];
        if (l.report_gpu && net.train)
            l.report_gpu(l, net, net.cost_host + costs_before(&net, net.index));
    }
    calc_network_cost(netp);
}

// ---- the input ----

static void make_input_arrays(network *net)
{
    if (net->input_spare_gpu)
        return;
    net->input_spare_gpu = cuda_make_array(0, values_of_input(net));
    check_error(cudaStreamCreateWithFlags(&net->input_stream, cudaStreamNonBlocking));
    net->input_read = cuda_make_event();
    net->input_arrived = cuda_make_event();
    check_error(cudaEventRecord(net->input_read, 0));
}

void free_input_arrays(network *net)
{
    if (!net->input_spare_gpu)
        return;
    cuda_free(net->input_spare_gpu);
    check_error(cudaStreamDestroy(net->input_stream));
    check_error(cudaEventDestroy(net->input_read));
    check_error(cudaEventDestroy(net->input_arrived));
    net->input_spare_gpu = 0;
}

// In training an input comes by a stream of its own, into the one of two buffers that the step
// before does not read. So it travels while the GPU still computes that step. The losses of this
// step wait for the copy: then net->input may change.
static void push_input(network *net)
{
    float *last = net->input_gpu;
    size_t n = values_of_input(net);
    if (!net->train) {
        cuda_push_array_async(last, net->input, n);
        return;
    }
    make_input_arrays(net);
    check_error(cudaStreamWaitEvent(net->input_stream, net->input_read, 0));
    check_error(cudaEventRecord(net->input_read, 0));
    net->input_gpu = net->input_spare_gpu;
    net->input_spare_gpu = last;
    check_error(cudaMemcpyAsync(net->input_gpu, net->input, sizeof(float) * n,
                                cudaMemcpyHostToDevice, net->input_stream));
    check_error(cudaEventRecord(net->input_arrived, net->input_stream));
    check_error(cudaStreamWaitEvent(0, net->input_arrived, 0));
}

// ---- the passes ----

static void begin_forward(network *net)
{
    cuda_set_device(net->gpu_index);
    make_cost_arrays(net);
    push_input(net);
    if (net->truth)
        cuda_push_array_async(net->truth_gpu, net->truth, (size_t)net->truths * (size_t)net->batch);
}

static void forward_layer(layer l, network *net)
{
    net->figures_gpu = net->cost_gpu + costs_before(net, net->index);
    l.forward_gpu(l, *net);
    if (l.bf16)
        bf16_convert_output(l);
    net->input_gpu = l.output_gpu;
    if (!l.truth)
        return;
    net->truth_gpu = l.output_gpu;
    if (!net->truth)
        net->truth = net->cost; // here it says only that there is one
}

static void end_forward(network *net)
{
    if (net->train || net->truth)
        start_pulling_cost(net);
    if (net->train)
        return;
    pull_network_output(net);
    if (net->truth)
        finish_pulling_cost(net);
}

static int begin_backward(layer *l, network *net, const network *whole)
{
    int i = net->index;
    if (l->bf16)
        bf16_combine_deltas(l);
    net->input_gpu = i ? net->layers[i - 1].output_gpu : whole->input_gpu;
    net->delta_gpu = i ? net->layers[i - 1].delta_gpu : whole->delta_gpu;
    // a layer in bf16 passes back, and takes, what is not in delta_gpu
    return net->delta_gpu || l->update_gpu || bf16_runs(*l) || (i && bf16_runs(net->layers[i - 1]));
}

static void backward_layer(layer l, network net)
{
    l.backward_gpu(l, net);
}

static void end_backward(network *net)
{
    if (net->train)
        finish_pulling_cost(net);
}

static void update_layer(layer l, update_args a)
{
    if (l.update_gpu)
        l.update_gpu(l, a);
}

static void zero_delta(layer l)
{
    if (l.delta_gpu)
        fill_gpu(l.outputs * l.batch, 0, l.delta_gpu, 1);
}

const pass_device pass_on_gpu = {
    .begin_forward = begin_forward,
    .forward = forward_layer,
    .end_forward = end_forward,
    .begin_backward = begin_backward,
    .backward = backward_layer,
    .end_backward = end_backward,
    .update = update_layer,
    .zero_delta = zero_delta,
};

// Darknet's examples call these.
void forward_network_gpu(network *net)
{
    forward_network(net);
}

void backward_network_gpu(network *net)
{
    backward_network(net);
}

void update_network_gpu(network *net)
{
    update_network(net);
}
#endif
