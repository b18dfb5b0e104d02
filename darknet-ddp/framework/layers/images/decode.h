/* layers/images/decode.h: decodes a picture's file into bytes. libjpeg reads JPEGs, libpng PNGs,
 * and Darknet's copy of stb_image the rest: BMP, GIF, TGA, PSD, HDR, PGM and PPM. A file may hold
 * any bytes: what is no whole picture is refused. JPEGs and PNGs are turned as their Exif data say
 * (exif.h): width and height are those that viewers show. Any thread may call any function.
 *
 * Darknet's load_image and load_image_color are here, too. They return floats of 0 to 1, channel by
 * channel, resized if asked. A picture that cannot be decoded ends the program by fatal(); in
 * training that leaves out the line of the list, or ends the run. A decoder's warning is printed on
 * standard error, once a picture, for 20 pictures at most. */
#ifndef DECODE_H
#define DECODE_H

#include "darknet.h"

#include <stddef.h>

typedef struct {
    int w, h, c;          // pixels, pixels, channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
    int orientation;      // 1 to 8 as the file says (exif.h); 0: files of its kind say none
    unsigned char *bytes; // a pixel's channels side by side, rows from the top; the caller frees it
    char note[256];       // success: "", or a warning if no pixel is lost; failure: the reason
} decoded;

/* Decode the file at path into *out, whose bytes the caller frees. channels: how many the result
 * has, 1 to 4; 0: as many as the file. Returns 0; or -1 with bytes NULL and the reason in note: no
 * picture, damaged, more than INT_MAX values, no memory. */
int decode_picture(const char *path, int channels, decoded *out);

/* Set *out from the file's header alone, with bytes NULL. Returns 0; or -1 with the reason in
 * note. */
int decode_size(const char *path, decoded *out);

/* Decode the file at path as grey, of which JPEGs may come smaller, down to an eighth, if the
 * shorter side keeps at least `side` pixels, 2 or more. Otherwise as decode_picture. */
int decode_small(const char *path, int side, decoded *out);

/* Return what decodes pictures here, such as "libjpeg-turbo 2.1.5 1a2b3c4d, libpng 1.6.39, Exif".
 * The hexadecimal number is a checksum of how the loaded JPEG library rounds. "Exif": pictures are
 * turned, which earlier versions did not do. The string is static. */
const char *decoders(void);

/* ---- decoders of one kind each. file[0..size) is the whole file. *out must be all zeros before.
 * They return as decode_picture does. The picture is not turned yet; its orientation is set.
 * only_size: 1 leaves bytes NULL. least_side: DECODE_WHOLE; DECODE_SIZE, which leaves bytes NULL;
 * or a side as for decode_small. ---- */

enum { DECODE_WHOLE = 0, DECODE_SIZE = 1 };

int decode_jpeg(const unsigned char *file, size_t size, int least_side, decoded *out);
int decode_png(const unsigned char *file, size_t size, int only_size, decoded *out);
int decode_other(const unsigned char *file, size_t size, int only_size, decoded *out);

/* Allocate out->bytes for out's w, h and c; what bytes pointed to is lost. Returns 0. Returns -1
 * with bytes NULL and the reason in note: no memory, or more than INT_MAX values. */
int decode_allocate(decoded *out);

#endif
