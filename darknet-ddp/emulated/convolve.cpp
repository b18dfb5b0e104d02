#include "convolve.h"

#include "emulated.h"

#include <algorithm>

namespace
{

using emulated::gemm;
using emulated::shape;

/* Call visit(index in the image, index in the columns) for all that both have, and skip(index in
 * the columns) for what falls into the padding. Columns are c x kernel_h x kernel_w rows of out_h x
 * out_w. */
template <class Visit, class Skip> void for_columns(const shape &s, Visit visit, Skip skip)
{
    size_t at = 0;

    for (int c = 0; c < s.c; c++)
        for (int i = 0; i < s.kernel_h; i++)
            for (int j = 0; j < s.kernel_w; j++)
                for (int oh = 0; oh < s.out_h; oh++)
                    for (int ow = 0; ow < s.out_w; ow++, at++) {
                        int row = oh * s.stride_h - s.pad_h + i * s.dilation_h;
                        int column = ow * s.stride_w - s.pad_w + j * s.dilation_w;

                        if (row >= 0 && row < s.h && column >= 0 && column < s.w)
                            visit((static_cast<size_t>(c) * static_cast<size_t>(s.h)
                                   + static_cast<size_t>(row))
                                          * static_cast<size_t>(s.w)
                                      + static_cast<size_t>(column),
                                  at);
                        else
                            skip(at);
                    }
}

void to_columns(const shape &s, const float *image, float *columns)
{
    for_columns(
        s, [=](size_t from, size_t to) { columns[to] = image[from]; },
        [=](size_t to) { columns[to] = 0; });
}

void add_columns(const shape &s, float alpha, const float *columns, float *image)
{
    for_columns(
        s, [=](size_t to, size_t from) { image[to] += alpha * columns[from]; }, [](size_t) {});
}

size_t group_of(const shape &s, size_t image)
{
    return image % static_cast<size_t>(s.groups);
}

} // namespace

namespace emulated
{

/* Rows of memory are columns to gemm. */

void convolve(const shape &s, float alpha, const float *x, const float *w, float beta, float *y,
              float *columns)
{
    int pixels = static_cast<int>(s.pixels()), column = static_cast<int>(s.column());

    for (size_t i = 0; i < s.images(); i++) {
        to_columns(s, x + i * s.inputs(), columns);
        gemm(false, false, pixels, s.k, column, alpha, columns, pixels,
             w + group_of(s, i) * s.weights(), column, beta, y + i * s.outputs(), pixels);
    }
}

void convolve_backward_data(const shape &s, float alpha, const float *w, const float *dy,
                            float beta, float *dx, float *columns)
{
    int pixels = static_cast<int>(s.pixels()), column = static_cast<int>(s.column());

    for (size_t i = 0; i < s.images(); i++) {
        float *image = dx + i * s.inputs();

        gemm(false, true, pixels, column, s.k, 1, dy + i * s.outputs(), pixels,
             w + group_of(s, i) * s.weights(), column, 0, columns, pixels);
        if (beta == 0)
            std::fill(image, image + s.inputs(), 0.0f);
        else if (beta != 1)
            std::for_each(image, image + s.inputs(), [=](float &value) { value *= beta; });
        add_columns(s, alpha, columns, image);
    }
}

void convolve_backward_filter(const shape &s, float alpha, const float *x, const float *dy,
                              float beta, float *dw, float *columns)
{
    int pixels = static_cast<int>(s.pixels()), column = static_cast<int>(s.column());

    for (size_t i = 0; i < s.images(); i++) {
        bool first = i < static_cast<size_t>(s.groups);

        to_columns(s, x + i * s.inputs(), columns);
        gemm(true, false, column, s.k, pixels, alpha, columns, pixels, dy + i * s.outputs(), pixels,
             first ? beta : 1, dw + group_of(s, i) * s.weights(), column);
    }
}

} // namespace emulated
