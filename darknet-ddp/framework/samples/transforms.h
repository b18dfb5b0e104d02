/* samples/transforms.h: where Darknet's loader finds the labels of a picture, and how it decodes
 * pictures. */
#ifndef DDP_SAMPLES_TRANSFORMS_H
#define DDP_SAMPLES_TRANSFORMS_H

#include <stddef.h>

enum { DDP_LABEL_PATH_BYTES = 4096 };

/* Write where training looks for the labels of a detector's picture to
 * out[0..DDP_LABEL_PATH_BYTES). */
void ddp_label_path(const char *picture, char *out);

/* If a picture has a second label file, which training does not take and whose bytes differ from
 * the first's, write its path to out[0..DDP_LABEL_PATH_BYTES), and return 1. Else return 0; out is
 * then undefined. */
int ddp_second_label_path(const char *picture, char *out);

/* Write where training looks for the mask of a segmenter's picture to
 * out[0..DDP_LABEL_PATH_BYTES). */
void ddp_mask_path(const char *picture, char *out);

/* Decode all of a picture, as training would, and drop it. Returns 0 on success, with the decoder's
 * warning or "" in note[0..size). Else returns -1, with the reason in note. */
int ddp_decode_picture(const char *picture, char *note, size_t size);

/* Decode a picture as grey, fast: a JPEG may come smaller, down to an eighth, if its shorter side
 * keeps `side` pixels, 2 or more. Returns 0, and sets *grey to the bytes, rows from the top, which
 * the caller frees, and *width and *height to the size as decoded. Returns -1, and sets nothing, if
 * it cannot be decoded. */
int ddp_decode_grey(const char *picture, int side, unsigned char **grey, int *width, int *height);

/* Return the orientation, 1 to 8, that `size` bytes of Exif data say; 1 if they say none or are
 * damaged. The data are what follows "Exif\0\0" in a JPEG, or all of a PNG's eXIf chunk. */
int ddp_exif_orientation(const unsigned char *exif, size_t size);

/* Read a picture's size in pixels from its header, turned as its Exif data say. Returns 0 on
 * success; else -1, with *width and *height undefined. */
int ddp_picture_size(const char *picture, int *width, int *height);

/* Return which libraries decode pictures here, and how the one for JPEGs rounds: a static string.
 * Two programs that return the same text make the same numbers of a picture. */
const char *ddp_picture_decoders(void);

/* Return the numbers of a map file, one a line, as Darknet's read_map reads them. The caller frees
 * them. A file that cannot be read ends the program. */
int *ddp_map_read(const char *path);

#endif
