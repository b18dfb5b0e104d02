#include "layers/gradients/columns.h"

#include "layers/gradients/cut.h"

#include <string.h>

int columns_values(const convolution_shape *s)
{
    return s->size * s->size * s->channels;
}

convolution_shape columns_shape(const convolution_shape *s)
{
    convolution_shape columns = *s;

    columns.channels = (columns_values(s) + BLOCK_SIDE - 1) / BLOCK_SIDE * BLOCK_SIDE;
    columns.height = convolution_out_height(s);
    columns.width = convolution_out_width(s);
    columns.size = columns.stride_x = columns.stride_y = columns.dilation = 1;
    columns.pad = 0;
    return columns;
}

/* Copy `count` numbers in vectors. Up to SIDE - 1 numbers behind them are read, and written. */
static void copy_freely(const unsigned short *from, int count, unsigned short *to)
{
    for (int i = 0; i < count; i += SIDE)
        memcpy(to + i, from + i, SIDE * sizeof *to);
}

/* Write what a row of the window reads of a row of x. row: NULL for a row beside the image; left:
 * the column of x where the window begins */
static void write_window_row(const convolution_shape *s, const unsigned short *row, int left,
                             unsigned short *to)
{
    const size_t channels = (size_t)s->channels, bytes = channels * sizeof *to;

    for (int j = 0; j < s->size; ++j, to += channels) {
        const int column = left + j * s->dilation;

        if (!row || column < 0 || column >= s->width)
            memset(to, 0, bytes);
        else
            memcpy(to, row + (size_t)column * channels, bytes);
    }
}

/* Write the columns of the pixel of y whose window begins at row `top` and column `left` of an
 * image. may_pass: 1 if numbers behind the pixel's may be written */
static void write_pixel(const convolution_shape *s, const unsigned short *x, int image, int top,
                        int left, int may_pass, unsigned short *to)
{
    const int count = s->size * s->channels;
    const int is_inside = s->dilation == 1 && left >= 0 && left + s->size <= s->width;
    const size_t x_row = (size_t)s->width * (size_t)s->channels;
    const size_t x_rows = (size_t)s->images * (size_t)s->height;
    const unsigned short *end = x + x_rows * x_row - (count + SIDE - 1) / SIDE * SIDE;

    for (int i = 0; i < s->size; ++i, to += count) {
        const int row = top + i * s->dilation;
        const unsigned short *from = NULL;

        if (row >= 0 && row < s->height)
            from = x + (size_t)(image * s->height + row) * x_row;
        if (from && may_pass && is_inside && from + left * s->channels <= end)
            copy_freely(from + left * s->channels, count, to);
        else
            write_window_row(s, from, left, to);
    }
}

/* Write a row of y. number: of the row, among those of all images */
static void write_row(const convolution_shape *s, const unsigned short *x, int number,
                      unsigned short *to)
{
    const int height = convolution_out_height(s), width = convolution_out_width(s);
    const int top = number % height * s->stride_y - s->pad, all = columns_shape(s).channels;

    for (int p = 0; p < width; ++p, to += all) {
        memset(to + all - BLOCK_SIDE, 0, BLOCK_SIDE * sizeof *to); /* those behind the columns */
        write_pixel(s, x, number / height, top, p * s->stride_x - s->pad, p + 1 < width, to);
    }
}

void write_columns(const convolution_shape *s, const unsigned short *x, int first, int rows,
                   unsigned short *columns)
{
    const size_t each = (size_t)convolution_out_width(s) * (size_t)columns_shape(s).channels;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int i = 0; i < rows; ++i)
        write_row(s, x, first + i, columns + (size_t)i * each);
}
