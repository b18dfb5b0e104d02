#include "samples/thumbnail.h"

#include "samples/picture_loader.h"

#include <math.h>
#include <string.h>

enum { QUALITY = 75 };

/* Function of Darknet's copy of stb_image_write, whose header is not in Darknet. */
extern int stbi_write_jpg_to_func(void (*take)(void *ctx, void *bytes, int count), void *ctx,
                                  int width, int height, int channels, const void *pixels,
                                  int quality);

static void take(void *ctx, void *bytes, int count)
{
    ddp_thumbnail *t = ctx;
    unsigned char *grown;

    if (count <= 0 || (t->count > 0 && !t->bytes))
        return;
    grown = realloc(t->bytes, t->count + (size_t)count);
    if (!grown) {
        free(t->bytes);
        t->bytes = NULL;
        return;
    }
    memcpy(grown + t->count, bytes, (size_t)count);
    t->bytes = grown;
    t->count += (size_t)count;
}

/* Return the image's bytes pixel by pixel, not channel by channel; the caller frees them. */
static unsigned char *pixels_of(const image *im)
{
    size_t plane = (size_t)im->w * (size_t)im->h, channels = (size_t)im->c;
    unsigned char *pixels = malloc(plane * channels);

    for (size_t c = 0; pixels && c < channels; c++)
        for (size_t i = 0; i < plane; i++)
            pixels[i * channels + c] = (unsigned char)(255 * im->data[c * plane + i] + 0.5F);
    return pixels;
}

/* Return a copy of which no side is longer than `most` pixels. */
static image shrink(image whole, int most)
{
    int longer = whole.w > whole.h ? whole.w : whole.h;
    int shown = longer < most ? longer : most;
    int width = whole.w * shown / longer, height = whole.h * shown / longer;

    return resize_image(whole, width > 0 ? width : 1, height > 0 ? height : 1);
}

/* Return that part of whole, which is freed, and set *part to what it is. */
static image cut(image whole, ddp_box *part)
{
    int left = (int)fmax(0, part->left * whole.w), top = (int)fmax(0, part->top * whole.h);
    int right = (int)fmin(whole.w, ceil((part->left + part->width) * whole.w));
    int bottom = (int)fmin(whole.h, ceil((part->top + part->height) * whole.h));
    image piece;

    left = left < whole.w ? left : whole.w - 1;
    top = top < whole.h ? top : whole.h - 1;
    right = right > left ? right : left + 1;
    bottom = bottom > top ? bottom : top + 1;
    piece = crop_image(whole, left, top, right - left, bottom - top);
    *part = (ddp_box){.left = (double)left / whole.w,
                      .top = (double)top / whole.h,
                      .width = (double)piece.w / whole.w,
                      .height = (double)piece.h / whole.h};
    free_image(whole);
    return piece;
}

ddp_thumbnail ddp_thumbnail_of(const char *path, ddp_box *part, int most)
{
    ddp_thumbnail t = {0};
    char why[DDP_PICTURE_WHY];
    unsigned char *pixels;
    image whole, small;

    if (!ddp_picture_read(&whole, path, why))
        return t;
    if (part)
        whole = cut(whole, part);
    small = shrink(whole, most);
    pixels = pixels_of(&small);
    t.width = small.w;
    t.height = small.h;
    if (pixels)
        (void)stbi_write_jpg_to_func(take, &t, small.w, small.h, small.c, pixels, QUALITY);
    free(pixels);
    free_image(whole);
    free_image(small);
    return t;
}
