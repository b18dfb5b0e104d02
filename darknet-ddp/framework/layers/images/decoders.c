/* Names the libraries that decode pictures here, so that ranks and resumed runs can compare them.
 * The JPEG library is loaded when the program starts, and may differ from the one that the program
 * was built with. So the name also has a checksum of the pixels that the library decodes from
 * JPEGs, which are made here of fixed coefficients. */
#include "layers/images/decode.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <png.h>

#undef calloc

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#ifdef LIBJPEG_TURBO_VERSION
#define LIBJPEG "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION)
#else
#define LIBJPEG "libjpeg " TEXT(JPEG_LIB_VERSION)
#endif

enum { SIDE = 64, COMPONENTS = 3, COEFFICIENTS = 64 };

typedef struct {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jvirt_barray_ptr blocks[COMPONENTS];
    uint32_t random;
} encoder;

static int draw_below(encoder *e, uint32_t n)
{
    e->random = e->random * 1664525u + 1013904223u;
    return (int)((e->random >> 16) % n);
}

static void fill_block(encoder *e, JCOEF *block)
{
    int i;
    block[0] = (JCOEF)(draw_below(e, 41) - 20);
    for (i = 0; i < 8; ++i)
        block[1 + draw_below(e, COEFFICIENTS - 1)] = (JCOEF)(draw_below(e, 5) - 2);
}

static void fill(encoder *e, int k)
{
    const jpeg_component_info *is = &e->jpeg.comp_info[k];
    JDIMENSION x, y;
    for (y = 0; y < is->height_in_blocks; ++y) {
        JBLOCKARRAY row =
            e->jpeg.mem->access_virt_barray((j_common_ptr)&e->jpeg, e->blocks[k], y, 1, TRUE);
        for (x = 0; x < is->width_in_blocks; ++x)
            fill_block(e, row[0][x]);
    }
}

/* Colours in pixels of wide x high each. */
static unsigned char *make_jpeg(int wide, int high, unsigned long *size)
{
    encoder e = {.random = 1};
    struct jpeg_compress_struct *jpeg = &e.jpeg;
    unsigned char *file = 0;
    int k;
    jpeg->err = jpeg_std_error(&e.errors);
    jpeg_create_compress(jpeg);
    jpeg_mem_dest(jpeg, &file, size);
    jpeg->image_width = jpeg->image_height = SIDE;
    jpeg->input_components = COMPONENTS;
    jpeg->in_color_space = JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg->comp_info[0].h_samp_factor = wide;
    jpeg->comp_info[0].v_samp_factor = high;
    for (k = 0; k < COMPONENTS; ++k)
        e.blocks[k] = jpeg->mem->request_virt_barray((j_common_ptr)jpeg, JPOOL_IMAGE, TRUE,
                                                     SIDE / 8, SIDE / 8, (JDIMENSION)high);
    jpeg_write_coefficients(jpeg, e.blocks);
    for (k = 0; k < COMPONENTS; ++k)
        fill(&e, k);
    jpeg_finish_compress(jpeg);
    jpeg_destroy_compress(jpeg);
    return file;
}

static uint32_t checksum(uint32_t sum, int wide, int high)
{
    unsigned long size = 0;
    size_t i;
    decoded d = {0};
    unsigned char *file = make_jpeg(wide, high, &size);
    if (!decode_jpeg(file, size, DECODE_WHOLE, &d))
        for (i = 0; i < (size_t)d.w * (size_t)d.h * (size_t)d.c; ++i)
            sum = (sum ^ d.bytes[i]) * 16777619u; // FNV-1a
    free(d.bytes);
    free(file);
    return sum;
}

static char text[64];

static void describe(void)
{
    uint32_t sum = 2166136261u;
    sum = checksum(sum, 1, 1);
    sum = checksum(sum, 2, 1);
    sum = checksum(sum, 1, 2);
    sum = checksum(sum, 2, 2);
    snprintf(text, sizeof text, LIBJPEG " %08x, libpng %s, Exif", sum, png_get_libpng_ver(NULL));
}

const char *decoders(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe);
    return text;
}
