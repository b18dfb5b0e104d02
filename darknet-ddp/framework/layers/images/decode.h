/* layers/images/decode.h: decodes a picture's file into bytes. libjpeg reads JPEGs, libpng PNGs,
 * and Darknet's copy of stb_image the rest: BMP, GIF, TGA, PSD, HDR, PGM and PPM. A file may
 * have any content: decoding fails if it is no whole picture. JPEGs and PNGs are turned upright as
 * their Exif data say (exif.h). Any thread may call any function.
 *
 * decode.c also has Darknet's load_image and load_image_color. They return floats of 0 to 1,
 * channel by channel, resized if asked. If a picture cannot be decoded, they call fatal(). They
 * print a decoder's warning on standard error, once a picture, for 20 pictures at most. */
#ifndef DECODE_H
#define DECODE_H

#include "darknet.h"

#include <stddef.h>

typedef struct {
    int w, h;             // size in pixels
    int c;                // channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
    int orientation;      // by the file's Exif data, 1 to 8 (exif.h); 0: this kind has none
    unsigned char *bytes; // rows from the top, a pixel's channels side by side; the caller frees it
    char note[256];       // after a failure the reason; else "" or the decoder's warning
} decoded;

/* Decode the file at path into *out, whose bytes the caller frees, and return 0. channels: number
 * of channels to convert to, 1 to 4; 0: those of the file. Return -1, with bytes NULL and the
 * reason in note: not readable, no picture, damaged, more than INT_MAX values, no memory. */
int decode_picture(const char *path, int channels, decoded *out);

/* Set the size (once upright), channels and orientation of *out from the file's header, and bytes
 * to NULL. Returns 0, or -1 with the reason in out->note. Reads the whole file all the same. */
int decode_size(const char *path, decoded *out);

/* Decode the file at path as grey, with the results of decode_picture. To save time, a JPEG is
 * decoded at 1/2, 1/4 or 1/8 of its size, as long as its shorter side keeps `side` pixels (2 or
 * more). */
int decode_small(const char *path, int side, decoded *out);

/* Return a static string that names the libraries that decode pictures, such as "libjpeg-turbo
 * 2.1.5 1a2b3c4d, libpng 1.6.39, Exif". 1a2b3c4d is a checksum of pixels that the JPEG library
 * decodes. Exif: pictures are turned upright, which earlier versions did not do. */
const char *decoders(void);

/* ---- decoders of one kind of file each. They work as decode_picture, but do not turn the picture
 * upright. file[0..size) is the whole file, and *out must be all zeros before. `least_side` is
 * DECODE_WHOLE, DECODE_SIZE (leave bytes NULL) or, for a JPEG, the side of decode_small. ---- */

enum { DECODE_WHOLE = 0, DECODE_SIZE = 1 };

int decode_jpeg(const unsigned char *file, size_t size, int least_side, decoded *out);
int decode_png(const unsigned char *file, size_t size, int least_side, decoded *out);
int decode_other(const unsigned char *file, size_t size, int least_side, decoded *out);

/* Allocate out->bytes for out's w, h and c, and return 0; does not free old bytes. If there is no
 * memory, or there would be more than INT_MAX values, return -1, with bytes NULL and the reason in
 * out->note. */
int decode_allocate(decoded *out);

#endif
