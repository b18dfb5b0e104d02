#ifndef DECODE_H
#define DECODE_H

#include "darknet.h"

#include <stddef.h>

/* A picture's file as bytes. JPEGs are decoded by libjpeg, PNGs by libpng, and what these cannot
 * read by Darknet's copy of stb_image: BMP, GIF, TGA, PSD, HDR, PGM and PPM. Any bytes may be
 * given: what is no whole picture is refused. All functions may be called by several threads.
 * JPEGs and PNGs are turned as their Exif data say (exif.h): width and height are those that
 * viewers show.
 *
 * Darknet's load_image and load_image_color are here, too: floats of 0 to 1, channel by channel, of
 * another size where one is asked for. A picture that cannot be decoded is fatal, so that in
 * training the line of the list is left out or ends the run. Warnings of a decoder are printed on
 * standard error, once for each picture, for 20 pictures at most. */

typedef struct {
    int w, h, c;          // pixels, pixels, channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
    int orientation;      // in the file, 1 to 8 (exif.h); 0: this kind of file has none
    unsigned char *bytes; // a pixel's channels side by side, rows from the top; free it
    char note[256];       // if 0 was returned, a warning, where no pixel is lost; if -1, the reason
} decoded;

/* channels: what to make of it, 1 to 4; 0: as the file has them. 0, or -1: it is no picture,
 * damaged, of more than INT_MAX values, or there is no memory; then bytes is NULL. */
int decode_picture(const char *path, int channels, decoded *out);

/* Width, height and channels alone, from the header; bytes is NULL. */
int decode_size(const char *path, decoded *out);

/* "libjpeg-turbo 2.1.5 1a2b3c4d, libpng 1.6.39, Exif": versions, and a checksum of how the JPEG
 * library that is loaded rounds. "Exif": pictures are turned, as they once were not. */
const char *decoders(void);

/* ---- one kind each; file[0..size) is all of the file; only_size: as decode_size. What comes out
 * is not turned yet: its orientation is set. ---- */

int decode_jpeg(const unsigned char *file, size_t size, int only_size, decoded *out);
int decode_png(const unsigned char *file, size_t size, int only_size, decoded *out);
int decode_other(const unsigned char *file, size_t size, int only_size, decoded *out);

/* Memory for out's w, h and c. 0, or -1 with the reason in its note. */
int decode_allocate(decoded *out);

#endif
