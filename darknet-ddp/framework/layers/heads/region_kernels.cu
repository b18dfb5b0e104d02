#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

#include "layers/heads/device_formulas.h"
extern "C" {
#include "cuda.h"
#include "layers/heads/region_kernels.h"
}
#include "layers/heads/head_kernels.h"
#include "layers/heads/region_formulas.h"

// [region]'s deltas on the GPU, by the formulas of the CPU. As in yolo_kernels.cu, first a thread
// trains each place; then, for each cell that has truths, a warp trains the cell's truths in their
// order.

/* Floats of the tally of a truth, or of all truths of a cell. */
#define TALLY_VALUES (sizeof(region_tally) / sizeof(float))
#define ENTRIES(l) (l.coords + 1 + l.classes)

__global__ void train_region_places_kernel(layer l, network net, int shared)
{
    extern __shared__ float shared_truths[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, cells = l.w * l.h;
    float *truths = share_truths(l, net, shared_truths, shared);
    if (i < l.n * cells && !truth_without_place(l, truths))
        train_region_place(l, net, blockIdx.y, i / cells, i % cells / l.w, i % l.w, truths);
}

__global__ void train_region_truths_kernel(layer l, network net, region_tally *tallies)
{
    int b = blockIdx.y, row = 0, column = 0, each = l.coords + 1;
    int first = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    team warp = {(int)(threadIdx.x % WARP), WARP};
    float *truth, *truths = net.truth + (size_t)b * l.truths;
    region_tally sum = {0};
    if (!truth_without_place(l, truths)
        && is_first_in_cell(l, truths, each, first, &column, &row)) {
        for (int t = first; (truth = next_truth_in_cell(l, truths, each, &t, column, row)); ++t) {
            train_region_truth(l, b, row, column, truth, warp, &sum);
            sync_team(warp);
        }
    }
    if (first < l.max_boxes && warp.lane == 0)
        tallies[(size_t)b * l.max_boxes + first] = sum;
}

// Block b: picture b, where it has a truth without a place. Of places that give its class as much,
// the first learns it, as on the CPU.
__global__ void train_region_classes_kernel(layer l, network net, region_tally *tallies)
{
    __shared__ float most[HEAD_THREADS];
    __shared__ int place[HEAD_THREADS];
    int b = blockIdx.x, id = threadIdx.x;
    team warp = {id, WARP};
    float *truth = truth_without_place(l, net.truth + (size_t)b * l.truths);
    region_tally sum = {0};
    if (!truth)
        return;
    most[id] = 0;
    place[id] = 0;
    for (int n = id; n < l.n * l.w * l.h; n += HEAD_THREADS) {
        float p = class_of_region_place(l, b, n, truth[l.coords]);
        if (p <= most[id])
            continue;
        most[id] = p;
        place[id] = n;
    }
    for (int half = HEAD_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        int other = id + half;
        if (id >= half || most[other] < most[id]
            || (most[other] == most[id] && place[other] >= place[id]))
            continue;
        most[id] = most[other];
        place[id] = place[other];
    }
    __syncthreads();
    if (id >= WARP)
        return;
    train_region_class(l, b, place[0], truth[l.coords], warp, &sum);
    if (id == 0)
        tallies[(size_t)b * l.max_boxes] = sum;
}

// The sum of objectness over all places, in every thread. Pictures of which only a class is known
// are left out.
__device__ float sum_of_objects(layer l, const region_tally *tallies, const float *objects)
{
    float sum = 0;
    for (int i = threadIdx.x; i < l.batch * l.n; i += HEAD_THREADS) {
        const region_tally *first = tallies + (size_t)(i / l.n) * l.max_boxes;
        if (first->class_count == first->count)
            sum += objects[i];
    }
    return sum_over_block(sum);
}

// One block.
__global__ void sum_region_kernel(layer l, const region_tally *tallies, const float *squares,
                                  const float *objects, region_sums *out)
{
    int anchors = l.batch * l.n, truths = l.batch * l.max_boxes;
    region_sums s;
    s.squares = sum_loss_parts(squares, anchors, l.coords, ENTRIES(l));
    s.tally.iou = sum_of_values(&tallies->iou, truths, TALLY_VALUES);
    s.tally.recall = sum_of_values(&tallies->recall, truths, TALLY_VALUES);
    s.tally.label = sum_of_values(&tallies->label, truths, TALLY_VALUES);
    s.tally.object = sum_of_values(&tallies->object, truths, TALLY_VALUES);
    s.tally.any_object = sum_of_objects(l, tallies, objects);
    s.tally.count = sum_of_counts(&tallies->count, truths, TALLY_VALUES);
    s.tally.class_count = sum_of_counts(&tallies->class_count, truths, TALLY_VALUES);
    if (threadIdx.x == 0)
        *out = s;
}

extern "C" void train_region_gpu(layer host, network net)
{
    head_layout at = get_head_layout(host, TALLY_VALUES, ENTRIES(host));
    layer l = layer_on_device(host, net, at);
    region_tally *tallies = (region_tally *)(l.head_gpu + at.tallies);
    float *squares = l.head_gpu + at.squares, *objects = l.head_gpu + at.objects;
    size_t shared = shared_truth_bytes(l);
    net.truth = net.truth_gpu;

    train_region_places_kernel<<<blocks_of_places(l), HEAD_THREADS, shared>>>(l, net, shared > 0);
    check_error(cudaPeekAtLastError());
    train_region_truths_kernel<<<blocks_of_truths(l), HEAD_THREADS>>>(l, net, tallies);
    check_error(cudaPeekAtLastError());
    if (l.softmax_tree) {
        train_region_classes_kernel<<<l.batch, HEAD_THREADS>>>(l, net, tallies);
        check_error(cudaPeekAtLastError());
    }
    sum_planes_kernel<<<l.batch * l.n * ENTRIES(l), HEAD_THREADS>>>(
        l.output, l.delta, l.w * l.h, ENTRIES(l), l.coords, squares, objects);
    check_error(cudaPeekAtLastError());
    sum_region_kernel<<<1, HEAD_THREADS>>>(l, tallies, squares, objects,
                                           (region_sums *)net.figures_gpu);
    check_error(cudaPeekAtLastError());
}
