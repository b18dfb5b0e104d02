#ifndef HEAD_KERNELS_H
#define HEAD_KERNELS_H

/* The common code of kernels of heads, which are layers that make the loss of boxes on the GPU. For
 * .cu files, behind device_formulas.h. */
#include "layers/heads/head_formulas.h"

#define HEAD_THREADS 256
#define SUM_BLOCKS 256
#define WARP 32
#define MOST_SHARED (48 * 1024)

// ---- [yolo] and [region] as kernels see them ----

/* Where in l.head_gpu is what; each in floats. */
typedef struct {
    size_t tallies, squares, objects, biases, mask, map, class_weights, end;
} head_layout;

/* tally: the floats of what a truth, or all of a cell, adds to the line; entries: of an anchor. */
static head_layout layout_of(layer l, size_t tally, int entries)
{
    head_layout at = {0};
    at.squares = at.tallies + tally * l.batch * l.max_boxes;
    at.objects = at.squares + (size_t)l.batch * l.n * entries;
    at.biases = at.objects + (size_t)l.batch * l.n;
    at.mask = at.biases + 2 * (l.type == YOLO ? l.total : l.n);
    at.map = at.mask + (l.mask ? l.n : 0);
    at.class_weights = at.map + (l.map ? l.classes : 0);
    at.end = at.class_weights + (l.yolo.class_weights ? l.classes : 0);
    return at;
}

/* The layer with pointers to memory of the device. The first time, what is there is copied. */
static layer on_device(layer l, network net, head_layout at)
{
    layer *own = net.layers + net.index;
    if (!own->head_gpu) {
        float *head = own->head_gpu = cuda_make_array(0, at.end);
        cuda_push_array(head + at.biases, l.biases, at.mask - at.biases);
        if (l.mask)
            cuda_push_array(head + at.mask, (float *)l.mask, l.n);
        if (l.map)
            cuda_push_array(head + at.map, (float *)l.map, l.classes);
        if (l.yolo.class_weights)
            cuda_push_array(head + at.class_weights, l.yolo.class_weights, l.classes);
    }
    l.head_gpu = own->head_gpu;
    l.output = l.output_gpu;
    l.delta = l.delta_gpu;
    l.biases = l.head_gpu + at.biases;
    if (l.mask)
        l.mask = (int *)(l.head_gpu + at.mask);
    if (l.map)
        l.map = (int *)(l.head_gpu + at.map);
    if (l.yolo.class_weights)
        l.yolo.class_weights = l.head_gpu + at.class_weights;
    if (l.softmax_tree)
        l.softmax_tree = l.softmax_tree->gpu;
    return l;
}

// ---- blocks: of a picture, blockIdx.y, so many places, a thread each, or so many truths, a warp
// each ----

static dim3 blocks_of_places(layer l)
{
    return dim3((l.n * l.w * l.h + HEAD_THREADS - 1) / HEAD_THREADS, l.batch);
}

static dim3 blocks_of_truths(layer l)
{
    int warps = HEAD_THREADS / WARP;
    return dim3((l.max_boxes + warps - 1) / warps, l.batch);
}

/* The shared memory that truths take in share_truths; 0: they do not fit. */
static size_t shared_truth_bytes(layer l)
{
    size_t bytes = sizeof(float) * l.truths;
    return bytes <= MOST_SHARED ? bytes : 0;
}

/* The truths of the block's picture, in shared memory where they fit. */
static __device__ float *share_truths(layer l, network net, float *shared, int fits)
{
    float *truths = net.truth + (size_t)blockIdx.y * l.truths;
    if (!fits)
        return truths;
    for (int k = threadIdx.x; k < l.truths; k += blockDim.x)
        shared[k] = truths[k];
    __syncthreads();
    return shared;
}

/* Is truth t of a picture in a cell, and no other before it in the same? each: the values of a
 * truth. */
static __device__ int leads(layer l, const float *truths, int each, int t, int *column, int *row)
{
    if (t >= l.max_boxes)
        return 0;
    for (int k = 0; k < t; ++k)
        if (!truths[k * each])
            return 0; // the list has ended
    if (!truths[t * each] || !box_cell(l, truths + t * each, column, row))
        return 0;
    for (int k = 0; k < t; ++k) {
        int other_column, other_row;
        if (!box_cell(l, truths + k * each, &other_column, &other_row))
            continue;
        if (other_column == *column && other_row == *row)
            return 0;
    }
    return 1;
}

/* The next truth of the cell, from number t; the list's end: 0. */
static __device__ float *next_of_cell(layer l, float *truths, int each, int *t, int column, int row)
{
    int other_column, other_row;
    for (; *t < l.max_boxes && truths[*t * each]; ++*t) {
        float *truth = truths + *t * each;
        if (box_cell(l, truth, &other_column, &other_row) && other_column == column
            && other_row == row)
            return truth;
    }
    return 0;
}

// ---- sums ----

/* The sum of all threads' values, in every thread, in an order that depends on nothing. For blocks
 * of HEAD_THREADS. */
static __device__ float sum_of_head_block(float value)
{
    __shared__ float shared[HEAD_THREADS];
    int id = threadIdx.x;
    __syncthreads(); // all have read the values of an earlier call
    shared[id] = value;
    for (int half = HEAD_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (id < half)
            shared[id] += shared[id + half];
    }
    __syncthreads();
    return shared[0];
}

/* The sum of n values, stride apart, in every thread. */
static __device__ float sum_of_values(const float *x, size_t n, size_t stride)
{
    float sum = 0;
    for (size_t i = threadIdx.x; i < n; i += HEAD_THREADS)
        sum += x[i * stride];
    return sum_of_head_block(sum);
}

/* Block p: the squared deltas of plane p, cells values of one entry of one anchor, and for the
 * entry object the outputs. */
static __global__ void sum_planes_kernel(const float *output, const float *delta, int cells,
                                         int entries, int object, float *squares, float *objects)
{
    size_t plane = blockIdx.x;
    const float *d = delta + plane * cells;
    float sum = 0;
    for (int i = threadIdx.x; i < cells; i += HEAD_THREADS)
        sum += d[i] * d[i];
    sum = sum_of_head_block(sum);
    if (threadIdx.x == 0)
        squares[plane] = sum;
    if ((int)(plane % entries) != object)
        return;
    sum = sum_of_values(output + plane * cells, cells, 1);
    if (threadIdx.x == 0)
        objects[plane / entries] = sum;
}

/* Block k: the squares of every SUM_BLOCKS-th piece of so many values as a block has threads. */
static __global__ void sum_squares_kernel(const float *x, size_t n, float *squares)
{
    float sum = 0;
    for (size_t i = (size_t)blockIdx.x * HEAD_THREADS + threadIdx.x; i < n;
         i += (size_t)SUM_BLOCKS * HEAD_THREADS)
        sum += x[i] * x[i];
    sum = sum_of_head_block(sum);
    if (threadIdx.x == 0)
        squares[blockIdx.x] = sum;
}

/* The sum of so many counts, stride words apart, in every thread: exact below 2^24. */
static __device__ int sum_of_counts(const int *x, size_t n, size_t stride)
{
    int sum = 0;
    for (size_t i = threadIdx.x; i < n; i += HEAD_THREADS)
        sum += x[i * stride];
    return sum_of_head_block(sum);
}

/* The parts of the loss of a head each of whose anchors has coords entries of a box, one of an
 * object, then classes. */
static __device__ head_figures sum_squares(const float *squares, int anchors, int coords,
                                           int entries)
{
    head_figures h = {0};
    float box = 0, label = 0;
    for (int i = threadIdx.x; i < anchors * entries; i += HEAD_THREADS) {
        if (i % entries < coords)
            box += squares[i];
        if (i % entries > coords)
            label += squares[i];
    }
    h.box_loss = sum_of_head_block(box);
    h.class_loss = sum_of_head_block(label);
    h.object_loss = sum_of_values(squares + coords, anchors, entries);
    return h;
}

#endif
