/* emulated/convolve.h: convolutions of NCHW floats, by im2col and products of matrices. */
#ifndef EMULATED_CONVOLVE_H
#define EMULATED_CONVOLVE_H

#include <cstddef>

namespace emulated
{

/* Sizes of a convolution of x and w to y:
 *   x   n x (c groups) x h x w
 *   y   n x (k groups) x out_h x out_w
 *   w   (k groups) x c x kernel */
struct shape {
    int n, groups;
    int c, h, w;
    int k, out_h, out_w;
    int kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;
    bool bf16; /* true: callers keep the arrays as bf16 with channels last, and convert them to NCHW
                  floats for these functions */

    size_t inputs() const /* how many values x has for one image and group */
    {
        return static_cast<size_t>(c) * static_cast<size_t>(h) * static_cast<size_t>(w);
    }
    size_t outputs() const
    {
        return static_cast<size_t>(k) * pixels();
    }
    size_t weights() const /* how many values w has for one group */
    {
        return static_cast<size_t>(k) * column();
    }
    size_t pixels() const
    {
        return static_cast<size_t>(out_h) * static_cast<size_t>(out_w);
    }
    size_t column() const
    {
        return static_cast<size_t>(c) * static_cast<size_t>(kernel_h)
               * static_cast<size_t>(kernel_w);
    }
    size_t columns_bytes() const /* bytes of `columns` that each function below needs */
    {
        return column() * pixels() * sizeof(float);
    }
    size_t images() const /* how many pairs of an image and a group x has */
    {
        return static_cast<size_t>(n) * static_cast<size_t>(groups);
    }
};

/* Compute r = a convolution, its gradient by the input, or its gradient by the weights, and set the
 * result (y, dx, dw) to alpha*r + beta*result. With beta 0 the result is not read. columns:
 * s.columns_bytes() of scratch memory. */
void convolve(const shape &s, float alpha, const float *x, const float *w, float beta, float *y,
              float *columns);
void convolve_back_data(const shape &s, float alpha, const float *w, const float *dy, float beta,
                        float *dx, float *columns);
void convolve_back_filter(const shape &s, float alpha, const float *x, const float *dy, float beta,
                          float *dw, float *columns);

} // namespace emulated

#endif
