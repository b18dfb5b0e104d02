#include "layers/images/jpeg_load.h"
#include "image.h"
#include "layers/images/pixels.h"
#include "utils.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef calloc // stb_image's own are not checked
#define STB_IMAGE_IMPLEMENTATION
#include "stb_image.h"

/* stb_image's JPEG of three channels or one, which nearly all pictures are, without what takes most
   of its time beside the entropy coding: its bytes of red, green and blue. A row of the picture
   goes from its components' bytes to floats in one loop. All else, and whatever cannot be decoded,
   is left to stb_image itself, which also says why. */

/* A file's bytes; 0: it cannot be read, or is larger than stb_image takes. */
static unsigned char *read_bytes(const char *filename, int *size)
{
    unsigned char *bytes = 0;
    FILE *file = fopen(filename, "rb");
    if (!file)
        return 0;
    if (!fseek(file, 0, SEEK_END)) {
        long end = ftell(file);
        if (end > 0 && end < INT_MAX / 2 && (bytes = malloc(end))) {
            rewind(file);
            *size = fread(bytes, 1, end, file);
        }
    }
    fclose(file);
    return bytes;
}

/* As stb_image does it: of two rows of a component one, of the picture's size. */
static void set_resample(stbi__jpeg *j, int k, stbi__resample *r)
{
    r->hs = j->img_h_max / j->img_comp[k].h;
    r->vs = j->img_v_max / j->img_comp[k].v;
    r->ystep = r->vs >> 1;
    r->w_lores = (j->s->img_x + r->hs - 1) / r->hs;
    r->ypos = 0;
    r->line0 = r->line1 = j->img_comp[k].data;
    if (r->hs == 1 && r->vs == 1)
        r->resample = resample_row_1;
    else if (r->hs == 1 && r->vs == 2)
        r->resample = stbi__resample_row_v_2;
    else if (r->hs == 2 && r->vs == 1)
        r->resample = stbi__resample_row_h_2;
    else if (r->hs == 2 && r->vs == 2)
        r->resample = j->resample_row_hv_2_kernel;
    else
        r->resample = stbi__resample_row_generic;
}

static unsigned char *next_row(stbi__jpeg *j, int k, stbi__resample *r)
{
    int bottom = r->ystep >= (r->vs >> 1);
    unsigned char *row = r->resample(j->img_comp[k].linebuf, bottom ? r->line1 : r->line0,
                                     bottom ? r->line0 : r->line1, r->w_lores, r->hs);
    if (++r->ystep >= r->vs) {
        r->ystep = 0;
        r->line0 = r->line1;
        if (++r->ypos < j->img_comp[k].y)
            r->line1 += j->img_comp[k].w2;
    }
    return row;
}

static image image_of(stbi__jpeg *j)
{
    int k, y, n = j->s->img_n, w = j->s->img_x, h = j->s->img_y;
    stbi__resample resample[3];
    image im = make_empty_image(w, h, 3);
    for (k = 0; k < n; ++k) {
        set_resample(j, k, resample + k);
        if (!(j->img_comp[k].linebuf = stbi__malloc(w + 3)))
            return im;
    }
    if (!(im.data = malloc(3 * sizeof(float) * w * h)))
        return im;
    for (y = 0; y < h; ++y) {
        unsigned char *rows[3];
        float *red = im.data + (size_t)y * w, *green = red + (size_t)w * h,
              *blue = green + (size_t)w * h;
        for (k = 0; k < n; ++k)
            rows[k] = next_row(j, k, resample + k);
        if (n == 3) {
            pixels_from_ycc(rows[0], rows[1], rows[2], w, red, green, blue);
        } else {
            pixels_from_bytes(rows[0], w, 1, red);
            memcpy(green, red, w * sizeof(float));
            memcpy(blue, red, w * sizeof(float));
        }
    }
    return im;
}

/* Without data where it is no such JPEG. */
static image load_jpeg(const char *filename)
{
    int size;
    image im = make_empty_image(0, 0, 0);
    unsigned char *bytes = read_bytes(filename, &size);
    stbi__jpeg *j = calloc(1, sizeof(stbi__jpeg));
    stbi__context s;
    if (bytes && j && size > 2 && bytes[0] == 0xff && bytes[1] == 0xd8) {
        stbi__start_mem(&s, bytes, size);
        j->s = &s;
        s.img_n = 0; // what is cleaned up
        stbi__setup_jpeg(j);
        if (stbi__decode_jpeg_image(j)) {
            int is_rgb =
                s.img_n == 3 && (j->rgb == 3 || (j->app14_color_transform == 0 && !j->jfif));
            if (s.img_n == 1 || (s.img_n == 3 && !is_rgb))
                im = image_of(j);
        }
        stbi__cleanup_jpeg(j);
    }
    free(bytes);
    free(j);
    return im;
}

image load_image_stb(char *filename, int channels)
{
    int w, h, c;
    if (channels == 3) {
        image im = load_jpeg(filename);
        if (im.data)
            return im;
    }
    unsigned char *data = stbi_load(filename, &w, &h, &c, channels);
    if (!data)
        fatal("Cannot load image \"%s\": %s", filename, stbi_failure_reason());
    if (channels)
        c = channels;
    image im = make_image(w, h, c);
    pixels_from_bytes(data, (size_t)w * h, c, im.data);
    free(data);
    return im;
}
