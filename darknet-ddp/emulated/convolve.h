/* emulated/convolve.h: convolutions of NCHW float arrays, by im2col and matrix products. */
#ifndef EMULATED_CONVOLVE_H
#define EMULATED_CONVOLVE_H

#include <cstddef>

namespace emulated
{

/* Shape of a convolution y = x * w. Its arrays are:
 *   x   n x (groups * c) x h x w
 *   y   n x (groups * k) x out_h x out_w
 *   w   (groups * k) x c x kernel_h x kernel_w */
struct shape {
    int n, groups;
    int c, h, w;
    int k, out_h, out_w;
    int kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;
    bool bf16; /* true: the program's arrays are NHWC bf16 (cudnn_arrays.h) */

    /* Values of x, y and w for one image and group. */
    size_t inputs() const
    {
        return static_cast<size_t>(c) * static_cast<size_t>(h) * static_cast<size_t>(w);
    }
    size_t outputs() const
    {
        return static_cast<size_t>(k) * pixels();
    }
    size_t weights() const
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
    size_t columns_bytes() const /* bytes of the scratch memory `columns` below */
    {
        return column() * pixels() * sizeof(float);
    }
    size_t images() const /* number of images times groups */
    {
        return static_cast<size_t>(n) * static_cast<size_t>(groups);
    }
};

/* Compute r: a convolution, the gradient of its input, or the gradient of its weights. Set the
 * result (y, dx or dw) to alpha*r + beta*result; with beta 0 the result is not read. `columns`:
 * s.columns_bytes() bytes of scratch memory. */
void convolve(const shape &s, float alpha, const float *x, const float *w, float beta, float *y,
              float *columns);
void convolve_backward_data(const shape &s, float alpha, const float *w, const float *dy,
                            float beta, float *dx, float *columns);
void convolve_backward_filter(const shape &s, float alpha, const float *x, const float *dy,
                              float beta, float *dw, float *columns);

} // namespace emulated

#endif
