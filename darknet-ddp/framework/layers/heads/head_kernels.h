/* layers/heads/head_kernels.h: helpers of the kernels that train [yolo], [region], [detection] and
 * [iseg]. A .cu file includes device_formulas.h before it. A truth is a labelled box. */
#ifndef HEAD_KERNELS_H
#define HEAD_KERNELS_H

#include "layers/heads/head_formulas.h"

#define HEAD_THREADS 256
#define SUM_BLOCKS 256
#define WARP 32
#define MOST_SHARED (48 * 1024)

// ---- arrays of [yolo] and [region] on the device ----

/* Where each array begins in l.head_gpu, counted in floats: a tally for each truth, the results of
 * sum_planes_kernel, and copies of the layer's arrays. `end` is the size of all. */
typedef struct {
    size_t tallies, squares, objects, biases, mask, map, class_weights, end;
} head_layout;

/* Return the layout for layer l, a [yolo] or [region]. `tally`: size of a yolo_tally or
 * region_tally in floats. `entries`: number of outputs of one anchor of a cell. */
static head_layout get_head_layout(layer l, size_t tally, int entries)
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

/* Return a copy of l, layer net.index, for kernels: its arrays that kernels use are on the device.
 * The first call for a layer allocates its head_gpu, and copies the arrays of `at` there. `at`: of
 * get_head_layout. */
static layer layer_on_device(layer l, network net, head_layout at)
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

// ---- launches: a thread for each anchor of each cell, or a warp for each truth. blockIdx.y is the
// picture ----

static dim3 blocks_of_places(layer l)
{
    return dim3((l.n * l.w * l.h + HEAD_THREADS - 1) / HEAD_THREADS, l.batch);
}

static dim3 blocks_of_truths(layer l)
{
    int warps = HEAD_THREADS / WARP;
    return dim3((l.max_boxes + warps - 1) / warps, l.batch);
}

/* Return how many bytes a picture's truths need in shared memory; 0 if they do not fit. */
static size_t shared_truth_bytes(layer l)
{
    size_t bytes = sizeof(float) * l.truths;
    return bytes <= MOST_SHARED ? bytes : 0;
}

/* Return the truths of picture blockIdx.y. With `fits` 1 first copy these l.truths floats to
 * `shared`, and return `shared`. All threads of the block must call it. */
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

/* Return 1 if truth t is the picture's first truth in its cell, and set *column and *row to the
 * cell. Else return 0; both are then undefined. Also return 0 if the picture has no truth t, or the
 * truth lies in no cell. `each`: floats of a truth. */
static __device__ int is_first_in_cell(layer l, const float *truths, int each, int t, int *column,
                                       int *row)
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

/* Return the picture's first truth from number *t on that lies in the cell, and set *t to its
 * number. Return null if there is none. `each`: floats of a truth. */
static __device__ float *next_truth_in_cell(layer l, float *truths, int each, int *t, int column,
                                            int row)
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

/* Return the sum of `value` over all threads of a block of HEAD_THREADS. All of them must call it,
 * and all get the sum. The order of additions is fixed. */
static __device__ float sum_over_block(float value)
{
    __shared__ float shared[HEAD_THREADS];
    int id = threadIdx.x;
    __syncthreads(); // wait until all threads have read the last call's result
    shared[id] = value;
    for (int half = HEAD_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (id < half)
            shared[id] += shared[id + half];
    }
    __syncthreads();
    return shared[0];
}

/* Return the sum of n values, `stride` floats apart. All threads of the block must call it. */
static __device__ float sum_of_values(const float *x, size_t n, size_t stride)
{
    float sum = 0;
    for (size_t i = threadIdx.x; i < n; i += HEAD_THREADS)
        sum += x[i * stride];
    return sum_over_block(sum);
}

/* Sum one plane in each block. A plane is one output (x, objectness, a class, ...) of one anchor,
 * for the `cells` cells of a picture.
 *   squares[plane]             becomes the sum of squared deltas
 *   objects[plane / entries]   becomes the sum of output number `object` of an anchor */
static __global__ void sum_planes_kernel(const float *output, const float *delta, int cells,
                                         int entries, int object, float *squares, float *objects)
{
    size_t plane = blockIdx.x;
    const float *d = delta + plane * cells;
    float sum = 0;
    for (int i = threadIdx.x; i < cells; i += HEAD_THREADS)
        sum += d[i] * d[i];
    sum = sum_over_block(sum);
    if (threadIdx.x == 0)
        squares[plane] = sum;
    if ((int)(plane % entries) != object)
        return;
    sum = sum_of_values(output + plane * cells, cells, 1);
    if (threadIdx.x == 0)
        objects[plane / entries] = sum;
}

/* Sum the squares of x[0..n) to SUM_BLOCKS sums, one for each block of HEAD_THREADS threads. */
static __global__ void sum_squares_kernel(const float *x, size_t n, float *squares)
{
    float sum = 0;
    for (size_t i = (size_t)blockIdx.x * HEAD_THREADS + threadIdx.x; i < n;
         i += (size_t)SUM_BLOCKS * HEAD_THREADS)
        sum += x[i] * x[i];
    sum = sum_over_block(sum);
    if (threadIdx.x == 0)
        squares[blockIdx.x] = sum;
}

/* Return the sum of n counts, `stride` ints apart; exact below 2^24. All HEAD_THREADS threads of
 * the block must call it. */
static __device__ int sum_of_counts(const int *x, size_t n, size_t stride)
{
    int sum = 0;
    for (size_t i = threadIdx.x; i < n; i += HEAD_THREADS)
        sum += x[i * stride];
    return sum_over_block(sum);
}

/* Return the losses of boxes, objectness and classes from the `squares` of sum_planes_kernel. All
 * threads of the block must call it. anchors: number of anchors times pictures. entries: outputs of
 * an anchor. The first `coords` are of the box, the next one is objectness, the others are classes.
 */
static __device__ head_figures sum_loss_parts(const float *squares, int anchors, int coords,
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
    h.box_loss = sum_over_block(box);
    h.class_loss = sum_over_block(label);
    h.object_loss = sum_of_values(squares + coords, anchors, entries);
    return h;
}

#endif
