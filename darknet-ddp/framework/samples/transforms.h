/* samples/transforms.h: pictures and their labels as Darknet's loader sees them. */
#ifndef DDP_SAMPLES_TRANSFORMS_H
#define DDP_SAMPLES_TRANSFORMS_H

#include <stddef.h>

enum { DDP_LABEL_PATH_BYTES = 4096 };

/* Write where training looks for the labels of a detector's picture to
 * out[0..DDP_LABEL_PATH_BYTES). */
void ddp_label_path(const char *picture, char *out);

/* Write a second label file of a picture to out[0..DDP_LABEL_PATH_BYTES): one that is there, beside
 * the one that training takes, and has other bytes. Returns 0 if there is none. */
int ddp_second_label_path(const char *picture, char *out);

/* Write where training looks for the mask of a segmenter's picture to
 * out[0..DDP_LABEL_PATH_BYTES). */
void ddp_mask_path(const char *picture, char *out);

/* Load all of a picture, as training would, and drop it. Returns 0 if that succeeds; note[0..size)
 * then has the decoder's warning, or "". Else note says why not. */
int ddp_decode_picture(const char *picture, char *note, size_t size);

/* Return the orientation, 1 to 8, that Exif data of `size` bytes say. It is 1 if they say none or
 * are damaged. exif: what follows "Exif\0\0" in a JPEG, or all of a PNG's eXIf chunk. */
int ddp_exif_orientation(const unsigned char *exif, size_t size);

/* Read a picture's size in pixels from its header, turned as its Exif data say. Returns 0 if that
 * succeeds; else both are 0. */
int ddp_picture_size(const char *picture, int *width, int *height);

/* Return which libraries decode pictures here, and how the one for JPEGs rounds. If two programs
 * return the same text, pictures become the same numbers in both. */
const char *ddp_picture_decoders(void);

/* Read a map by Darknet's read_map: a number a line. The caller frees it. A file that cannot be
 * read ends the program. */
int *ddp_map_read(const char *path);

#endif
