#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

#include "layers/heads/device_formulas.h"
extern "C" {
#include "cuda.h"
#include "layers/heads/iseg_kernels.h"
}
#include "layers/heads/head_kernels.h"

// [iseg]'s deltas on the GPU, as forward_iseg_layer computes them: a block for each
// instance (object) of a picture sums the embeddings of the instance's pixels. Then a thread for
// each pixel goes through the instances in the order of the CPU. The truth of a picture lists
// instances, a class and a mask each, up to a class below 0.

#define MASK_VALUES(l) (l.w * l.h + 1)

/* Where in l.head_gpu is what; each in floats. First are the squares of the deltas. */
static __host__ __device__ size_t place_of_instances(layer l, int b)
{
    return SUM_BLOCKS + b * (sizeof(iseg_instances) / sizeof(float) + ISEG_INSTANCES * l.extra);
}

static __host__ __device__ iseg_instances *instances_of(layer l, int b)
{
    return (iseg_instances *)(l.head_gpu + place_of_instances(l, b));
}

static __host__ __device__ float *means_of(layer l, int b)
{
    return (float *)(instances_of(l, b) + 1);
}

static __device__ int is_listed(layer l, const float *truth, int instance)
{
    for (int i = 0; i <= instance; ++i)
        if ((int)truth[(size_t)i * MASK_VALUES(l)] < 0)
            return 0;
    return 1;
}

// Block (i, b): instance i of picture b.
__global__ void iseg_instances_kernel(layer l, const float *truths)
{
    int i = blockIdx.x, b = blockIdx.y, cells = l.w * l.h;
    const float *truth = truths + (size_t)b * l.truths,
                *mask = truth + (size_t)i * MASK_VALUES(l) + 1;
    const float *embedding = l.output_gpu + (size_t)b * l.outputs + (size_t)l.classes * cells;
    float *mean = means_of(l, b) + (size_t)i * l.extra, pixels = 0, error = 0;
    int listed = is_listed(l, truth, i);
    for (int k = threadIdx.x; listed && k < cells; k += HEAD_THREADS)
        pixels += mask[k] != 0;
    pixels = sum_over_block(pixels);
    for (int z = 0; z < l.extra; ++z) {
        float sum = 0;
        for (int k = threadIdx.x; pixels && k < cells; k += HEAD_THREADS)
            if (mask[k])
                sum += embedding[(size_t)z * cells + k];
        sum = sum_over_block(sum);
        float here = pixels ? 1.f / pixels * sum : 0;
        if (threadIdx.x == 0)
            mean[z] = here;
        for (int k = threadIdx.x; pixels && k < cells; k += HEAD_THREADS) {
            float off = here - embedding[(size_t)z * cells + k];
            if (mask[k])
                error += off * off;
        }
    }
    error = sum_over_block(error);
    if (threadIdx.x)
        return;
    instances_of(l, b)->pixels[i] = pixels;
    instances_of(l, b)->errors[i] = pixels ? error / pixels : 0;
}

/* Towards the mean of its own instances, away from those of the others. */
static __device__ float delta_of_embedding(layer l, int b, int k, int z, float output,
                                           const float *truth)
{
    const float *pixels = instances_of(l, b)->pixels, *means = means_of(l, b);
    float delta = .1 * (0 - output);
    for (int i = 0; i < ISEG_INSTANCES; ++i) {
        if (!pixels[i] || !truth[(size_t)i * MASK_VALUES(l) + 1 + k])
            continue;
        for (int j = 0; j < ISEG_INSTANCES; ++j) {
            if (!pixels[j])
                continue;
            float diff = means[(size_t)j * l.extra + z] - output;
            if (j == i)
                delta += diff < 0 ? -.1 : .1;
            else
                delta += -(diff < 0 ? -.1 : .1);
        }
    }
    return delta * .01;
}

__global__ void train_iseg_pixels_kernel(layer l, const float *truths)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y, cells = l.w * l.h;
    if (k >= cells)
        return;
    const float *truth = truths + (size_t)b * l.truths,
                *output = l.output_gpu + (size_t)b * l.outputs + k;
    float *delta = l.delta_gpu + (size_t)b * l.outputs + k;
    for (int c = 0; c < l.classes; ++c)
        delta[(size_t)c * cells] = 0 - output[(size_t)c * cells];
    for (int i = 0; i < ISEG_INSTANCES; ++i) {
        int c = truth[(size_t)i * MASK_VALUES(l)];
        if (c < 0)
            break;
        float v = truth[(size_t)i * MASK_VALUES(l) + 1 + k];
        if (v)
            delta[(size_t)c * cells] = v - output[(size_t)c * cells];
    }
    for (int z = 0; z < l.extra; ++z) {
        size_t at = (size_t)(l.classes + z) * cells;
        delta[at] = delta_of_embedding(l, b, k, z, output[at], truth);
    }
}

// One block.
__global__ void sum_iseg_kernel(const float *squares, float *cost)
{
    float sum = sum_of_values(squares, SUM_BLOCKS, 1);
    if (threadIdx.x == 0)
        *cost = sum;
}

extern "C" void train_iseg_gpu(layer l, network net)
{
    layer *own = net.layers + net.index;
    if (!own->head_gpu)
        own->head_gpu = cuda_make_array(0, place_of_instances(l, l.batch));
    l.head_gpu = own->head_gpu;

    iseg_instances_kernel<<<dim3(ISEG_INSTANCES, l.batch), HEAD_THREADS>>>(l, net.truth_gpu);
    check_error(cudaPeekAtLastError());
    train_iseg_pixels_kernel<<<dim3((l.w * l.h + HEAD_THREADS - 1) / HEAD_THREADS, l.batch),
                               HEAD_THREADS>>>(l, net.truth_gpu);
    check_error(cudaPeekAtLastError());
    sum_squares_kernel<<<SUM_BLOCKS, HEAD_THREADS>>>(l.delta_gpu, (size_t)l.batch * l.outputs,
                                                     l.head_gpu);
    check_error(cudaPeekAtLastError());
    sum_iseg_kernel<<<1, HEAD_THREADS>>>(l.head_gpu, net.figures_gpu);
    check_error(cudaPeekAtLastError());
}

extern "C" void pull_iseg_instances(layer l, iseg_instances *of, float *means)
{
    cuda_pull_array((float *)instances_of(l, 0), (float *)of,
                    sizeof(iseg_instances) / sizeof(float));
    cuda_pull_array(means_of(l, 0), means, (size_t)ISEG_INSTANCES * l.extra);
}
