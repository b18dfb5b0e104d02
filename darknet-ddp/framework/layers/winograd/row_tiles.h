/* layers/winograd/row_tiles.h: transforms of rows of images and windows (row_formulas.h), for
 * layers/winograd/rows.c. */
#ifndef LAYERS_WINOGRAD_ROW_TILES_H
#define LAYERS_WINOGRAD_ROW_TILES_H

#include <stddef.h>

enum { ROW_FILTERS = 32 /* filters that are computed at a time */ };

/* Transform a row of an image's input for all its tiles.
 *   row       bf16, [column][channel]; NULL for a row beside the image, which is zeros
 *   width     columns of the row
 *   left      column of the first pixel that the first tile reads
 *   tiles     tiles of the row
 *   to        bf16, [value][tile][channel], values `step` numbers apart */
void row_tiles_transform_input(const unsigned short *row, int width, int channels, int left,
                               int tiles, unsigned short *to, size_t step);

/* Transform a row of the windows of ROW_FILTERS filters, for two channels.
 *   weights      the first weight of the row, of the first filter and channel; filters lie
 *                by_filter floats apart, the two channels by_channel, and the row's weights
 * by_column to           pairs of bf16 numbers, [value][filter], values `step` pairs apart; a pair
 * has both channels */
void row_tiles_transform_weights(const float *weights, ptrdiff_t by_filter, ptrdiff_t by_channel,
                                 ptrdiff_t by_column, unsigned *to, size_t step);

/* Transform the sums of ROW_FILTERS filters for the tiles of a row to pixels.
 *   sums      floats, [value][tile][filter], values `step` floats apart
 *   width     columns of the output; the last tile may reach behind them
 *   bias      ROW_FILTERS floats to be added; NULL: none
 *   add       1 adds to what the pixels hold, 0 sets them
 *   filters   numbers from a pixel to the next one
 *   to        bf16, the first pixel's */
void row_tiles_transform_output(const float *sums, size_t step, int width, const float *bias,
                                int add, int filters, unsigned short *to);

#endif
