#include "layers/images/decode.h"
#include "layers/images/exif.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#undef calloc

enum { MOST_MARKER = 65533 }; // bytes

enum { MOST_SCANS = 500 }; // a few bytes each may ask for a pass over the whole picture

typedef struct {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    decoded *out;
} decoder;

static void on_error(j_common_ptr jpeg)
{
    decoder *d = jpeg->client_data;
    jpeg->err->format_message(jpeg, d->out->note);
    longjmp(d->failed, 1);
}

/* All pixels are there: bytes that nobody wants, and marks that contradict each other. */
static int is_harmless(int code)
{
    return code == JWRN_EXTRANEOUS_DATA || code == JWRN_TOO_MUCH_DATA || code == JWRN_ADOBE_XFORM
           || code == JWRN_JFIF_MAJOR;
}

static void on_message(j_common_ptr jpeg, int level)
{
    decoder *d = jpeg->client_data;
    if (level >= 0)
        return; // no warning
    if (!is_harmless(jpeg->err->msg_code))
        on_error(jpeg);
    if (!d->out->note[0])
        jpeg->err->format_message(jpeg, d->out->note);
}

static void on_scan(j_common_ptr jpeg)
{
    decoder *d = jpeg->client_data;
    if (d->jpeg.input_scan_number <= MOST_SCANS)
        return;
    snprintf(d->out->note, sizeof d->out->note, "it has more than %d scans", MOST_SCANS);
    longjmp(d->failed, 1);
}

/* Inks, as Adobe's programs write them, reversed, or as they are, to light. */
static void light_of_inks(const decoder *d)
{
    size_t i, count = (size_t)d->out->w * (size_t)d->out->h;
    int k, flip = d->jpeg.saw_Adobe_marker ? 0 : 255;
    for (i = 0; i < count; ++i) {
        const unsigned char *ink = d->out->bytes + 4 * i;
        unsigned char *light = d->out->bytes + 3 * i;
        int white = ink[3] ^ flip;
        for (k = 0; k < 3; ++k) {
            unsigned product = (unsigned)((ink[k] ^ flip) * white + 128);
            light[k] = (unsigned char)((product + (product >> 8)) >> 8); // product/255, rounded
        }
    }
    d->out->c = 3;
}

/* Have a picture decoded as grey, if that is free, and at the smallest of 1/1, 1/2, 1/4 and 1/8 of
 * its size that leaves the shorter side this long. */
static void choose_small(decoder *d, int side)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    int shorter = d->out->w < d->out->h ? d->out->w : d->out->h;
    jpeg->scale_num = jpeg->scale_denom = 1;
    while (jpeg->scale_denom < 8 && shorter / (2 * (int)jpeg->scale_denom) >= side)
        jpeg->scale_denom *= 2;
    jpeg_calc_output_dimensions(jpeg);
    d->out->w = (int)jpeg->output_width;
    d->out->h = (int)jpeg->output_height;
    if (jpeg->jpeg_color_space == JCS_YCbCr)
        d->out->c = 1;
}

static void read_pixels(decoder *d)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    size_t row;
    jpeg->out_color_space = d->out->c == 1 ? JCS_GRAYSCALE : d->out->c == 3 ? JCS_RGB : JCS_CMYK;
    if (decode_allocate(d->out))
        longjmp(d->failed, 1);
    jpeg_start_decompress(jpeg);
    row = (size_t)d->out->w * (size_t)d->out->c;
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW to = d->out->bytes + row * jpeg->output_scanline;
        jpeg_read_scanlines(jpeg, &to, 1);
    }
    jpeg_finish_decompress(jpeg);
    if (d->out->c == 4)
        light_of_inks(d);
}

/* Exif data are the first APP1 marker of that name; XMP has this marker, too. */
static int find_orientation(const struct jpeg_decompress_struct *jpeg)
{
    jpeg_saved_marker_ptr at;
    for (at = jpeg->marker_list; at; at = at->next)
        if (at->data_length >= 6 && !memcmp(at->data, "Exif\0\0", 6))
            return exif_orientation(at->data + 6, at->data_length - 6);
    return EXIF_UPRIGHT;
}

static void read_jpeg(decoder *d, const unsigned char *file, size_t size, int least_side)
{
    jpeg_create_decompress(&d->jpeg);
    d->jpeg.progress = &d->progress;
    jpeg_mem_src(&d->jpeg, file, size);
    jpeg_save_markers(&d->jpeg, JPEG_APP0 + 1, MOST_MARKER);
    jpeg_read_header(&d->jpeg, TRUE);
    d->out->orientation = find_orientation(&d->jpeg);
    d->out->w = (int)d->jpeg.image_width;
    d->out->h = (int)d->jpeg.image_height;
    d->out->c = d->jpeg.num_components;
    if (d->out->c != 1 && d->out->c != 3 && d->out->c != 4) {
        snprintf(d->out->note, sizeof d->out->note, "it has %d components", d->out->c);
        longjmp(d->failed, 1);
    }
    if (least_side == DECODE_SIZE) {
        d->out->c = d->out->c == 1 ? 1 : 3;
        return;
    }
    if (least_side > DECODE_SIZE)
        choose_small(d, least_side);
    read_pixels(d);
}

int decode_jpeg(const unsigned char *file, size_t size, int least_side, decoded *out)
{
    decoder d = {.out = out};
    d.jpeg.err = jpeg_std_error(&d.errors);
    d.jpeg.client_data = &d;
    d.errors.error_exit = on_error;
    d.errors.emit_message = on_message;
    d.progress.progress_monitor = on_scan;
    if (setjmp(d.failed)) {
        jpeg_destroy_decompress(&d.jpeg);
        free(out->bytes);
        out->bytes = 0;
        return -1;
    }
    read_jpeg(&d, file, size, least_side);
    jpeg_destroy_decompress(&d.jpeg);
    return 0;
}
