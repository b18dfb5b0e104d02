#include "layers/gradients/columns.h"

#include <string.h>

static size_t values_of_pixel(const convolution_shape *s)
{
    return (size_t)s->size * (size_t)s->size * (size_t)s->channels;
}

size_t columns_bytes(const convolution_shape *s)
{
    const int pixels = convolution_out_height(s) * convolution_out_width(s);

    return (size_t)s->images * (size_t)pixels * values_of_pixel(s) * sizeof(unsigned short);
}

convolution_shape columns_shape(const convolution_shape *s)
{
    convolution_shape columns = *s;

    columns.channels = (int)values_of_pixel(s);
    columns.height = convolution_out_height(s);
    columns.width = convolution_out_width(s);
    columns.size = columns.stride_x = columns.stride_y = columns.dilation = 1;
    columns.pad = 0;
    return columns;
}

/* Write what a row of the window reads of a row of x. row: NULL for a row beside the image; left:
 * the column of x where the window begins */
static void write_window_row(const convolution_shape *s, const unsigned short *row, int left,
                             unsigned short *to)
{
    const size_t channels = (size_t)s->channels, bytes = channels * sizeof *to;

    if (row && s->dilation == 1 && left >= 0 && left + s->size <= s->width) {
        memcpy(to, row + (size_t)left * channels, (size_t)s->size * bytes);
        return;
    }
    for (int j = 0; j < s->size; ++j, to += channels) {
        const int column = left + j * s->dilation;

        if (!row || column < 0 || column >= s->width)
            memset(to, 0, bytes);
        else
            memcpy(to, row + (size_t)column * channels, bytes);
    }
}

void write_columns(const convolution_shape *s, const unsigned short *x, unsigned short *columns)
{
    const int height = convolution_out_height(s), width = convolution_out_width(s);
    const size_t x_row = (size_t)s->width * (size_t)s->channels;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int r = 0; r < s->images * height; ++r) {
        const int top = r % height * s->stride_y - s->pad;
        const unsigned short *image = x + (size_t)(r / height) * (size_t)s->height * x_row;
        unsigned short *to = columns + (size_t)r * (size_t)width * values_of_pixel(s);

        for (int p = 0; p < width; ++p) {
            for (int i = 0; i < s->size; ++i, to += s->size * s->channels) {
                const int row = top + i * s->dilation;

                write_window_row(s,
                                 row < 0 || row >= s->height ? NULL : image + (size_t)row * x_row,
                                 p * s->stride_x - s->pad, to);
            }
        }
    }
}
