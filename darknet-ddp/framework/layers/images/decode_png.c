#include "layers/images/decode.h"
#include "layers/images/exif.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#undef calloc

typedef struct {
    png_structp png;
    png_infop info;
    png_bytepp rows;
    const unsigned char *file;
    size_t left;
    decoded *out;
} decoder;

static void on_error(png_structp png, png_const_charp message)
{
    decoder *d = png_get_error_ptr(png);
    snprintf(d->out->note, sizeof d->out->note, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    decoder *d = png_get_error_ptr(png);
    if (!d->out->note[0])
        snprintf(d->out->note, sizeof d->out->note, "%s", message);
}

static void read_bytes(png_structp png, png_bytep to, size_t count)
{
    decoder *d = png_get_io_ptr(png);
    if (count > d->left)
        png_error(png, "the file is cut off");
    memcpy(to, d->file, count);
    d->file += count;
    d->left -= count;
}

/* Bytes of 1 to 4 channels, the upper 8 bits of 16, whatever the file has; no gamma is applied. */
static void ask_for_bytes(decoder *d)
{
    png_set_strip_16(d->png);
    png_set_packing(d->png);
    png_set_expand(d->png); // palettes, less than 8 bits, a transparent colour
    png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
}

static void read_rows(decoder *d)
{
    size_t i, row = png_get_rowbytes(d->png, d->info);
    if (decode_allocate(d->out))
        png_longjmp(d->png, 1);
    d->rows = malloc((size_t)d->out->h * sizeof *d->rows);
    if (!d->rows)
        png_error(d->png, "no memory for its rows");
    for (i = 0; i < (size_t)d->out->h; ++i)
        d->rows[i] = d->out->bytes + i * row;
    png_read_image(d->png, d->rows);
    png_read_end(d->png, NULL);
}

static void read_png(decoder *d, int least_side)
{
    png_set_read_fn(d->png, d, read_bytes);
    png_set_keep_unknown_chunks(d->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1); // all but the pixels'
    png_read_info(d->png, d->info);
    ask_for_bytes(d);
    d->out->w = (int)png_get_image_width(d->png, d->info);
    d->out->h = (int)png_get_image_height(d->png, d->info);
    d->out->c = png_get_channels(d->png, d->info);
    if (least_side != DECODE_SIZE)
        read_rows(d);
}

static int read_or_fail(decoder *d, int least_side)
{
    d->info = png_create_info_struct(d->png);
    if (!d->info || setjmp(png_jmpbuf(d->png)))
        return -1;
    read_png(d, least_side);
    return 0;
}

int decode_png(const unsigned char *file, size_t size, int least_side, decoded *out)
{
    decoder d = {.file = file, .left = size, .out = out};
    int failed;
    out->orientation = exif_orientation_of_png(file, size);
    d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_error, on_warning);
    failed = !d.png || read_or_fail(&d, least_side);
    if (failed) {
        free(out->bytes);
        out->bytes = 0;
        if (!out->note[0])
            snprintf(out->note, sizeof out->note, "no memory to read it");
    }
    png_destroy_read_struct(&d.png, &d.info, NULL);
    free(d.rows);
    return failed ? -1 : 0;
}
