#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

#include "layers/heads/device_formulas.h"
extern "C" {
#include "cuda.h"
#include "layers/heads/yolo_kernels.h"
}
#include "layers/heads/head_kernels.h"
#include "layers/heads/iou_formulas.h"
#include "layers/heads/yolo_formulas.h"
#include "layers/heads/yolo_v4_formulas.h"

// [yolo]'s deltas on the GPU, by the formulas of the CPU. First a thread for each
// place trains it as if no truth were assigned to it. Then a warp for each cell that has truths
// trains these in their order; its threads share the classes. The layer that kernels get points to
// memory of the device. The order of sums follows from the sizes alone.

/* Floats of the tally of a truth, or of all truths of a cell. */
#define TALLY_VALUES (sizeof(yolo_tally) / sizeof(float))
#define ENTRIES(l) (4 + 1 + l.classes)

// ---- kernels ----

__global__ void train_places_kernel(layer l, network net, int shared)
{
    extern __shared__ float shared_truths[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, cells = l.w * l.h;
    float *truths = share_truths(l, net, shared_truths, shared);
    if (i >= l.n * cells)
        return;
    int b = blockIdx.y, n = i / cells, row = i % cells / l.w, column = i % l.w;
    if (l.yolo.v4)
        train_unassigned(l, net, place_at(l, net, b, n, column, row), truths);
    else
        train_yolo_place(l, net, b, n, row, column, truths);
}

// The warp of the first truth of a cell trains all of the cell's.
__global__ void train_truths_kernel(layer l, network net, yolo_tally *tallies)
{
    int b = blockIdx.y, row = 0, column = 0;
    int first = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    team warp = {(int)(threadIdx.x % WARP), WARP};
    float *truth, *truths = net.truth + (size_t)b * l.truths;
    yolo_tally sum = {0};
    if (is_first_in_cell(l, truths, BOX_VALUES, first, &column, &row)) {
        for (int t = first; (truth = next_truth_in_cell(l, truths, BOX_VALUES, &t, column, row));
             ++t) {
            if (l.yolo.v4)
                assign_truth(l, net, b, row, column, truth, warp, &sum);
            else
                train_yolo_truth(l, net, b, row, column, truth, warp, &sum);
            sync_team(warp);
        }
    }
    if (first < l.max_boxes && warp.lane == 0)
        tallies[(size_t)b * l.max_boxes + first] = sum;
}

__global__ void average_boxes_kernel(layer l, network net)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, cells = l.w * l.h;
    if (i < l.n * cells)
        average_box(l, place_at(l, net, blockIdx.y, i / cells, i % l.w, i % cells / l.w));
}

// One block.
__global__ void sum_yolo_kernel(layer l, const yolo_tally *tallies, const float *squares,
                                const float *objects, yolo_sums *out)
{
    int anchors = l.batch * l.n, truths = l.batch * l.max_boxes;
    yolo_sums s;
    s.squares = sum_loss_parts(squares, anchors, 4, ENTRIES(l));
    s.tally.iou = sum_of_values(&tallies->iou, truths, TALLY_VALUES);
    s.tally.recall = sum_of_values(&tallies->recall, truths, TALLY_VALUES);
    s.tally.recall75 = sum_of_values(&tallies->recall75, truths, TALLY_VALUES);
    s.tally.label = sum_of_values(&tallies->label, truths, TALLY_VALUES);
    s.tally.object = sum_of_values(&tallies->object, truths, TALLY_VALUES);
    s.tally.any_object = sum_of_values(objects, anchors, 1);
    s.tally.box_loss = sum_of_values(&tallies->box_loss, truths, TALLY_VALUES);
    s.tally.count = sum_of_counts(&tallies->count, truths, TALLY_VALUES);
    if (threadIdx.x == 0)
        *out = s;
}

__global__ void scale_yolo_kernel(float *x, size_t n, int entries, int cells, float s)
{
    size_t i = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n && i / cells % entries < 2)
        x[i] = scale_centre(x[i], s);
}

// ---- launches ----

extern "C" void scale_yolo_gpu(layer l)
{
    size_t n = (size_t)l.batch * l.outputs;
    scale_yolo_kernel<<<cuda_gridsize(n), BLOCK>>>(l.output_gpu, n, ENTRIES(l), l.w * l.h,
                                                   l.yolo.scale_x_y);
    check_error(cudaPeekAtLastError());
}

extern "C" void train_yolo_gpu(layer host, network net)
{
    head_layout at = get_head_layout(host, TALLY_VALUES, ENTRIES(host));
    layer l = layer_on_device(host, net, at);
    yolo_tally *tallies = (yolo_tally *)(l.head_gpu + at.tallies);
    float *squares = l.head_gpu + at.squares, *objects = l.head_gpu + at.objects;
    size_t shared = shared_truth_bytes(l);
    net.truth = net.truth_gpu;

    train_places_kernel<<<blocks_of_places(l), HEAD_THREADS, shared>>>(l, net, shared > 0);
    check_error(cudaPeekAtLastError());
    train_truths_kernel<<<blocks_of_truths(l), HEAD_THREADS>>>(l, net, tallies);
    check_error(cudaPeekAtLastError());
    if (l.yolo.v4 && l.yolo.iou_thresh < 1) {
        average_boxes_kernel<<<blocks_of_places(l), HEAD_THREADS>>>(l, net);
        check_error(cudaPeekAtLastError());
    }
    sum_planes_kernel<<<l.batch * l.n * ENTRIES(l), HEAD_THREADS>>>(
        l.output, l.delta, l.w * l.h, ENTRIES(l), 4, squares, objects);
    check_error(cudaPeekAtLastError());
    sum_yolo_kernel<<<1, HEAD_THREADS>>>(l, tallies, squares, objects,
                                         (yolo_sums *)net.figures_gpu);
    check_error(cudaPeekAtLastError());
}
