/* layers/onednn/pixel.h: pixels of a row of a bf16 image, NHWC, and of the zeros beside it. */
#ifndef LAYERS_ONEDNN_PIXEL_H
#define LAYERS_ONEDNN_PIXEL_H

#include <stddef.h>

enum { PIXEL_ZEROS = 16 };

/* Return the first of a pixel's channels from `channel` on. For a column beside the row return
 * PIXEL_ZEROS zeros. */
static inline const unsigned short *pixel_or_zeros(const unsigned short *row, int width,
                                                   int channels, int column, int channel)
{
    static const unsigned short zeros[PIXEL_ZEROS];

    if (column < 0 || column >= width)
        return zeros;
    return row + (size_t)column * (size_t)channels + channel;
}

#endif
