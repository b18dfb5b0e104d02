/* emulated/cudnn_shapes.h: the emulated cuDNN's descriptors and convolution algorithms. cudnn.cpp
 * computes convolutions; cudnn_algorithms.cpp lists the algorithms. */
#ifndef EMULATED_CUDNN_SHAPES_H
#define EMULATED_CUDNN_SHAPES_H

#include "convolve.h"
#include "cudnn.h"

struct emulated_cudnn {
    cudaStream_t stream = nullptr;
};

struct emulated_tensor {
    int n, c, h, w;
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
};

struct emulated_filter {
    int k, c, h, w;
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
};

struct emulated_convolution {
    int pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;
    int groups = 1;
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;
    cudnnDataType_t computed_in = CUDNN_DATA_FLOAT;
};

namespace emulated
{

/* Set s to the shape of the convolution that the descriptors describe. Returns false if one is
 * null, if they do not match, or if a type or layout is not supported. */
bool shape_of(const emulated_tensor *x, const emulated_filter *w, const emulated_convolution *v,
              const emulated_tensor *y, shape &s);

enum direction { forward, backward_data, backward_filter };

struct algorithm {
    int number;
    bool has_workspace;
    cudnnDeterminism_t determinism;
    bool takes_floats, takes_bf16;
    bool on_tensor_cores; /* true: with EMULATED_NOISE, reads floats as TF32, unless the math
                             type is CUDNN_FMA_MATH */
};

/* Return the algorithm of that direction and number; nullptr if there is none, or it
 * cannot take the shape's type. */
const algorithm *find_algorithm(direction way, const shape &s, int number);

} // namespace emulated

#endif
