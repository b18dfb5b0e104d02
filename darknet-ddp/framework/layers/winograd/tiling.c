#include "layers/winograd/tiling.h"

#ifdef DNNL
#include "layers/winograd/tiles.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

winograd_tiling winograd_tiling_of(const convolution_shape *s, int most_at_once)
{
    const int m = winograd_tile_side(s);
    winograd_tiling t = {
        .side = m,
        .products = (m + 2) * (m + 2),
        .height = convolution_out_height(s),
        .width = convolution_out_width(s),
    };
    int blocks;

    t.across = (t.width - 1) / m + 1;
    t.each = ((t.height - 1) / m + 1) * t.across;
    t.tiles = s->images * t.each;
    blocks = (t.tiles - 1) / most_at_once + 1;
    t.at_once = (t.tiles - 1) / blocks + 1;
    t.most_at_once = least(t.tiles, most_at_once);
    return t;
}

int winograd_tiles(const convolution_shape *s)
{
    return winograd_tiling_of(s, 1).tiles;
}

winograd_tile winograd_tile_at(const winograd_tiling *t, int number)
{
    const int in_image = number % t->each;
    winograd_tile tile = {
        .image = number / t->each,
        .top = in_image / t->across * t->side,
        .left = in_image % t->across * t->side,
    };

    tile.rows = least(t->height - tile.top, t->side);
    tile.columns = least(t->width - tile.left, t->side);
    return tile;
}

void winograd_read_tile(const convolution_shape *s, const winograd_tiling *t, int number,
                        const float *x, const float *zeros, float *out)
{
    const float *pixels[WINOGRAD_SIDE][WINOGRAD_SIDE];
    const winograd_tile tile = winograd_tile_at(t, number);
    const size_t first = (size_t)tile.image * (size_t)s->height;

    for (int i = 0; i < WINOGRAD_SIDE; ++i)
        for (int j = 0; j < WINOGRAD_SIDE; ++j) {
            const int row = tile.top - s->pad + i, column = tile.left - s->pad + j;
            const size_t pixel = (first + (size_t)row) * (size_t)s->width + (size_t)column;
            const int is_inside = row >= 0 && row < s->height && column >= 0 && column < s->width;

            pixels[i][j] = is_inside ? x + pixel * (size_t)s->channels : zeros;
        }
    winograd_transform_input(t->side, pixels, s->channels, out);
}
#endif
