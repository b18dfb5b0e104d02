#include "layers/bf16/host.h"
#include "layers/bf16/host_blocks.h"

#include "layers/gradients/gradients.h"
#include "layers/onednn/layer_shape.h"
#include "layers/winograd/rows.h"
#include "layers/winograd/winograd.h"
#include "network.h"
#include "utils.h"

#include <stdint.h>
#include <stdlib.h>

/*
 * Convolutions slice by slice of a mini-batch; between two slices messages are moved. oneDNN
 * computes outputs and deltas, and with groups gradients of weights, too. Where Winograd's
 * algorithm is faster, it computes outputs and deltas of 3x3 layers. layers/gradients/ computes the
 * other gradients. The size of a slice follows from the layer's sizes and the CPU's instructions,
 * and one call computes a slice's gradients. So without groups they are added up in one order on
 * any number of ranks and threads.
 */

#ifdef DNNL
// Multiplications of a slice: one to two milliseconds of a core, without AMX and with it.
#define SLICE_WORK 5e8
#define SLICE_WORK_OF_AMX 2e9

struct bf16_convolution {
    int images;                     // of a slice; a divisor of the mini-batch
    int by_rows;                    // 1: Winograd's algorithm computes outputs and deltas, and the
                                    // handles of oneDNN are null
    convolution *forward;           // with biases, for a layer without BatchNorm
    convolution *backward;          // without biases
    void *packed[2];                // weights for CONVOLUTION_FORWARD and, after a forward pass of
                                    // training, for CONVOLUTION_BACKWARD_DATA
    struct bf16_convolution *other; // for another mini-batch, as validation has; null: none yet
};

static convolution *convolution_for(layer l, int images, int has_bias)
{
    convolution_shape s = layer_shape(&l, images);
    s.bf16 = !bf16_emulated;
    s.has_bias = has_bias;
    return convolution_of(&s);
}

// The shape of a pass over a slice, as winograd_rows_... read it.
static convolution_shape rows_shape(layer l, int images, convolution_pass pass)
{
    convolution_shape s = layer_shape(&l, images);
    return pass == CONVOLUTION_FORWARD ? s : winograd_backward_shape(&s);
}

// 1: Winograd's algorithm computes outputs and deltas; emulated, as on a CPU where it is faster.
static int suits_rows(layer l)
{
    convolution_shape there = rows_shape(l, 1, CONVOLUTION_FORWARD);
    convolution_shape back = rows_shape(l, 1, CONVOLUTION_BACKWARD_DATA);
    return (bf16_emulated || winograd_rows_are_faster()) && winograd_rows_suit(&there)
           && winograd_rows_suit(&back);
}

// The largest divisor of the mini-batch that is at most `most`.
static int images_a_slice(layer l, int most)
{
    int images = most < 1 ? 1 : most < l.batch ? most : l.batch;
    while (l.batch % images)
        --images;
    return images;
}

// ---- memory ----

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t input_values(layer l, int images)
{
    return (size_t)l.inputs * (size_t)images;
}

static size_t output_values(layer l, int images)
{
    return (size_t)l.outputs * (size_t)images;
}

// The bytes of a slice's input and output as floats.
static size_t emulated_bytes(layer l, int images)
{
    size_t in = input_values(l, images), out = output_values(l, images);
    return bf16_emulated ? round_up(in * sizeof(float)) + round_up(out * sizeof(float)) : 0;
}

static convolution *handle_of(const struct bf16_convolution *c, convolution_pass pass)
{
    return pass == CONVOLUTION_FORWARD ? c->forward : c->backward;
}

static gradients_way gradients_here()
{
    return bf16_emulated ? GRADIENTS_PLAIN : gradients_fastest_way();
}

// The scratch memory of a pass over a slice.
static size_t pass_bytes(layer l, const struct bf16_convolution *c, convolution_pass pass)
{
    convolution_shape s = layer_shape(&l, c->images);
    if (pass == CONVOLUTION_BACKWARD_WEIGHTS && l.groups == 1)
        return gradients_scratch_bytes(&s, gradients_here());
    if (c->by_rows) {
        s = rows_shape(l, c->images, pass);
        return winograd_rows_scratch(&s);
    }
    return convolution_scratch_bytes(handle_of(c, pass), pass);
}

static size_t scratch_bytes(layer l, const struct bf16_convolution *c)
{
    size_t most = 0;
    for (int i = CONVOLUTION_FORWARD; i <= CONVOLUTION_BACKWARD_WEIGHTS; ++i) {
        size_t bytes = pass_bytes(l, c, (convolution_pass)i);
        most = bytes > most ? bytes : most;
    }
    return most;
}

// The workspace, from an address that oneDNN likes.
static char *aligned_workspace(network net)
{
    return (char *)net.workspace + (64 - (uintptr_t)net.workspace % 64) % 64;
}

static void *make_packed(layer l, const struct bf16_convolution *c, convolution_pass pass)
{
    convolution_shape s = rows_shape(l, c->images, pass);
    size_t bytes = c->by_rows ? winograd_rows_packed_bytes(&s)
                              : convolution_packed_bytes(handle_of(c, pass), pass);
    void *packed = aligned_alloc(64, round_up(bytes));
    if (!packed)
        malloc_error();
    return packed;
}

// Null: oneDNN has no such convolution.
static struct bf16_convolution *make_convolution(layer l, int images)
{
    struct bf16_convolution *c = calloc(1, sizeof(struct bf16_convolution));
    if (!c)
        malloc_error();
    c->images = images;
    c->by_rows = suits_rows(l);
    if (!c->by_rows) {
        c->backward = convolution_for(l, images, 0);
        c->forward = l.batch_normalize ? c->backward : convolution_for(l, images, 1);
        if (!c->forward || !c->backward) {
            free(c);
            return 0;
        }
    }
    for (int i = CONVOLUTION_FORWARD; i <= CONVOLUTION_BACKWARD_DATA; ++i)
        c->packed[i] = make_packed(l, c, (convolution_pass)i);
    return c;
}

static void free_convolution(struct bf16_convolution *c)
{
    if (!c)
        return;
    free_convolution(c->other);
    free(c->packed[0]);
    free(c->packed[1]);
    free(c);
}

int bf16_host_prepare(layer *l)
{
    double work = (double)l->nweights * l->out_w * l->out_h;
    double most = convolution_has_amx() && !bf16_emulated ? SLICE_WORK_OF_AMX : SLICE_WORK;
    int images = images_a_slice(*l, (int)(most / work));
    struct bf16_convolution *c = make_convolution(*l, images);
    if (!c)
        return 0;
    free_convolution(l->bf16->convolution);
    l->bf16->convolution = c;
    l->workspace_size = 64 + emulated_bytes(*l, images) + scratch_bytes(*l, c);
    if (l->workspace_size < bf16_host_sums_bytes(*l))
        l->workspace_size = bf16_host_sums_bytes(*l);
    return 1;
}

void bf16_host_free_convolution(layer l)
{
    free_convolution(l.bf16->convolution);
}

// Return what computes the present mini-batch, in slices that the workspace is large enough for.
static struct bf16_convolution *convolution_here(layer l)
{
    struct bf16_convolution *c = l.bf16->convolution;
    if (l.batch % c->images == 0)
        return c;
    int images = images_a_slice(l, c->images);
    if (!c->other || c->other->images != images) {
        free_convolution(c->other);
        c->other = make_convolution(l, images);
        if (!c->other)
            error("a convolution in bf16");
    }
    return c->other;
}

// ---- slices ----

// One slice of a mini-batch: where its first values lie, and memory.
typedef struct {
    size_t input, output;
    float *x, *y; // for its values as floats, if emulated
    char *scratch;
} slice;

static slice slice_from(layer l, network net, int first, int images)
{
    slice s;
    s.input = input_values(l, first);
    s.output = output_values(l, first);
    s.x = (float *)(void *)aligned_workspace(net);
    s.y = s.x + round_up(input_values(l, images) * sizeof(float)) / sizeof(float);
    s.scratch = aligned_workspace(net) + emulated_bytes(l, images);
    return s;
}

// Write the weights in the layout of a pass, in bf16; emulated, as floats that bf16 can hold.
static void pack(layer l, struct bf16_convolution *c, convolution_pass pass)
{
    if (c->by_rows) {
        convolution_shape s = rows_shape(l, c->images, pass);
        winograd_rows_pack(&s, l.weights, pass == CONVOLUTION_BACKWARD_DATA, c->packed[pass]);
        return;
    }
    float *rounded = 0;
    if (bf16_emulated) {
        rounded = calloc((size_t)l.nweights, sizeof(float));
        if (!rounded)
            malloc_error();
        for (int i = 0; i < l.nweights; ++i)
            rounded[i] = half_to_float(half_of_float(l.weights[i]));
    }
    convolution_pack(handle_of(c, pass), pass, rounded ? rounded : l.weights, c->packed[pass]);
    free(rounded);
}

// Return n values from x on: as they are, or emulated, as floats in `floats`.
static const void *values_for(const half *x, size_t n, float *floats)
{
    if (!bf16_emulated)
        return x;
    floats_of_halves(n, x, floats);
    return floats;
}

// Compute a slice's output.
static void forward_slice(layer l, const struct bf16_convolution *c, slice s, const half *x,
                          half *y)
{
    const float *biases = l.batch_normalize ? 0 : l.biases;
    const void *weights = c->packed[CONVOLUTION_FORWARD];
    if (c->by_rows) {
        convolution_shape shape = rows_shape(l, c->images, CONVOLUTION_FORWARD);
        winograd_rows_convolve(&shape, !bf16_emulated, weights, biases, x, y, s.scratch);
        return;
    }
    const void *from = values_for(x, input_values(l, c->images), s.x);
    void *to = bf16_emulated ? (void *)s.y : y;
    convolution_forward(c->forward, weights, biases, from, to, s.scratch);
    if (bf16_emulated)
        halves_of_floats(output_values(l, c->images), s.y, y);
}

void bf16_host_convolve(layer l, network net, const void *input)
{
    struct bf16_convolution *c = convolution_here(l);
    pack(l, c, CONVOLUTION_FORWARD);
    // For the backward pass, if it comes here, while the weights are in the cache.
    if (net.train && net.index > 0 && net.index >= first_learning_layer(&net))
        pack(l, c, CONVOLUTION_BACKWARD_DATA);
    half *made = l.bf16->x ? l.bf16->x : l.bf16->output;
    for (int i = 0; i < l.batch; i += c->images) {
        slice s = slice_from(l, net, i, c->images);
        forward_slice(l, c, s, (const half *)input + s.input, made + s.output);
        let_messages_move(net);
    }
}

// Gradients of a slice, with groups.
static void add_group_gradients(layer l, const struct bf16_convolution *c, slice s,
                                const half *input, const half *delta)
{
    const void *x = values_for(input, input_values(l, c->images), s.x);
    const void *dy = values_for(delta, output_values(l, c->images), s.y);
    convolution_backward_weights(c->backward, x, dy, l.weight_updates, s.scratch);
}

void bf16_host_convolve_backward_weights(layer l, network net, const void *input)
{
    struct bf16_convolution *c = convolution_here(l);
    convolution_shape shape = layer_shape(&l, c->images);
    for (int i = 0; i < l.batch; i += c->images) {
        slice s = slice_from(l, net, i, c->images);
        const half *x = (const half *)input + s.input;
        const half *dy = (const half *)l.bf16->delta + s.output;
        if (l.groups > 1)
            add_group_gradients(l, c, s, x, dy);
        else
            gradients_add(&shape, gradients_here(), x, dy, l.weight_updates, s.scratch);
        let_messages_move(net);
    }
}

// Compute the gradient of a slice's input.
static void backward_slice(layer l, const struct bf16_convolution *c, slice s, const half *dy,
                           int set, half *dx)
{
    const void *weights = c->packed[CONVOLUTION_BACKWARD_DATA];
    if (c->by_rows) {
        convolution_shape shape = rows_shape(l, c->images, CONVOLUTION_BACKWARD_DATA);
        shape.sum = set ? CONVOLUTION_SUM_NONE : CONVOLUTION_SUM_AFTER;
        winograd_rows_convolve(&shape, !bf16_emulated, weights, 0, dy, dx, s.scratch);
        return;
    }
    const void *from = values_for(dy, output_values(l, c->images), s.y);
    void *to = bf16_emulated ? (void *)s.x : dx;
    convolution_backward_data(c->backward, weights, from, to, !set && !bf16_emulated, s.scratch);
    if (bf16_emulated)
        bf16_set_or_add(input_values(l, c->images), s.x, set, dx);
}

void bf16_host_convolve_backward_input(layer l, network net, int set, void *input_delta)
{
    struct bf16_convolution *c = convolution_here(l);
    for (int i = 0; i < l.batch; i += c->images) {
        slice s = slice_from(l, net, i, c->images);
        backward_slice(l, c, s, (const half *)l.bf16->delta + s.output, set,
                       (half *)input_delta + s.input);
        let_messages_move(net);
    }
}
#else
int bf16_host_prepare(layer *l)
{
    (void)l;
    return 0;
}

void bf16_host_free_convolution(layer l)
{
    (void)l;
}

void bf16_host_convolve(layer l, network net, const void *input)
{
    (void)l;
    (void)net;
    (void)input;
}

void bf16_host_convolve_backward_weights(layer l, network net, const void *input)
{
    bf16_host_convolve(l, net, input);
}

void bf16_host_convolve_backward_input(layer l, network net, int set, void *input_delta)
{
    (void)set;
    bf16_host_convolve(l, net, input_delta);
}
#endif
