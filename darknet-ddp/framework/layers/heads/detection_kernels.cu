#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

#include "layers/heads/device_formulas.h"
extern "C" {
#include "cuda.h"
#include "layers/heads/detection_kernels.h"
}
#include "layers/heads/detection_formulas.h"
#include "layers/heads/head_kernels.h"

// [detection]'s deltas on the GPU, by the formulas of the CPU. One thread trains one cell, and
// needs nothing of other cells.

/* Floats of the tally of one cell. */
#define TALLY_VALUES (sizeof(detection_tally) / sizeof(float))

__global__ void train_cells_kernel(layer l, network net, const int *drawn, detection_tally *tallies)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, locations = l.side * l.side;
    detection_tally sum = {0};
    if (i >= l.batch * locations)
        return;
    train_detection_cell(l, net, i / locations, i % locations, drawn ? drawn[i] : -1, &sum);
    tallies[i] = sum;
}

// One block.
__global__ void sum_detection_kernel(int cells, const detection_tally *tallies,
                                     const float *squares, detection_sums *out)
{
    detection_sums s;
    s.cost = sum_of_values(squares, SUM_BLOCKS, 1);
    s.tally.iou = sum_of_values(&tallies->iou, cells, TALLY_VALUES);
    s.tally.label = sum_of_values(&tallies->label, cells, TALLY_VALUES);
    s.tally.any_label = sum_of_values(&tallies->any_label, cells, TALLY_VALUES);
    s.tally.object = sum_of_values(&tallies->object, cells, TALLY_VALUES);
    s.tally.any_object = sum_of_values(&tallies->any_object, cells, TALLY_VALUES);
    s.tally.count = sum_of_counts(&tallies->count, cells, TALLY_VALUES);
    if (threadIdx.x == 0)
        *out = s;
}

extern "C" void train_detection_gpu(layer l, network net, int *drawn)
{
    layer *own = net.layers + net.index;
    int cells = l.batch * l.side * l.side;
    size_t squares = TALLY_VALUES * cells,
           anchors = squares + SUM_BLOCKS; // places in own->head_gpu
    if (!own->head_gpu)
        own->head_gpu = cuda_make_array(0, anchors + cells);
    float *head = own->head_gpu;
    detection_tally *tallies = (detection_tally *)head;
    if (drawn)
        cuda_push_array_async(head + anchors, (float *)drawn, cells);
    l.output = l.output_gpu;
    l.delta = l.delta_gpu;
    net.truth = net.truth_gpu;

    train_cells_kernel<<<cuda_gridsize(cells).x, BLOCK>>>(
        l, net, drawn ? (int *)(head + anchors) : 0, tallies);
    check_error(cudaPeekAtLastError());
    sum_squares_kernel<<<SUM_BLOCKS, HEAD_THREADS>>>(l.delta, (size_t)l.batch * l.outputs,
                                                     head + squares);
    check_error(cudaPeekAtLastError());
    sum_detection_kernel<<<1, HEAD_THREADS>>>(cells, tallies, head + squares,
                                              (detection_sums *)net.figures_gpu);
    check_error(cudaPeekAtLastError());
}
