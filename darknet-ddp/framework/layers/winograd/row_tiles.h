/* layers/winograd/row_tiles.h: transforms of rows of images and windows (row_formulas.h), for
 * layers/winograd/rows.c. */
#ifndef LAYERS_WINOGRAD_ROW_TILES_H
#define LAYERS_WINOGRAD_ROW_TILES_H

#include "layers/onednn/convolution.h"

enum { ROW_FILTERS = 32 /* filters that are computed at a time */ };

/* Transform a row of an image's input for all its tiles.
 *   row       bf16, [column][channel]; NULL for a row beside the image, which is zeros
 *   width     columns of the row
 *   left      column of the first pixel that the first tile reads
 *   tiles     tiles of the row
 *   to        bf16, [value][tile][channel], values `step` numbers apart */
void row_tiles_transform_input(const unsigned short *row, int width, int channels, int left,
                               int tiles, unsigned short *to, size_t step);

/* Transform the windows of ROW_LANES filters, for two channels.
 *   windows      the 9 weights of the first filter and channel; the next filter's lie by_filter
 *                floats from there, those of the next channel by_channel
 *   end          where all weights end
 *   is_turned    1 turns each window by half a turn first
 *   to           pairs of bf16 numbers: a value has ROW_LANES pairs, of both channels; the values
 *                of a row of the window are `step` pairs apart, its rows by_row pairs */
void row_tiles_transform_weights(const float *windows, size_t by_filter, size_t by_channel,
                                 const float *end, int is_turned, unsigned *to, size_t step,
                                 size_t by_row);

/* Bias, activation and sum of an output. */
typedef struct {
    const float *bias;     /* ROW_FILTERS floats that are added; NULL: none */
    ACTIVATION activation; /* LINEAR: none */
    convolution_sum sum;   /* when the values that the output held are added */
} row_output;

/* Transform the sums of ROW_FILTERS filters for the tiles of a row to pixels.
 *   sums      floats, [value][tile][filter], values `step` floats apart
 *   width     columns of the output; the last tile may reach behind them
 *   filters   numbers from a pixel to the next one
 *   to        bf16, the first pixel's */
void row_tiles_transform_output(const float *sums, size_t step, int width, const row_output *output,
                                int filters, unsigned short *to);

#endif
