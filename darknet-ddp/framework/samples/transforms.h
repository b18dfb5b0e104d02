/* samples/transforms.h: finds a picture's label file or mask where Darknet's loader does, and
 * decodes pictures. Also reads a picture's size, Exif data, and map= files. */
#ifndef DDP_SAMPLES_TRANSFORMS_H
#define DDP_SAMPLES_TRANSFORMS_H

#include <stddef.h>

enum { DDP_LABEL_PATH_BYTES = 4096 };

/* Write the path of the label file of a detector's picture to out[0..DDP_LABEL_PATH_BYTES); without
 * a file, the first path where training looks. Here and in ddp_second_label_path, a picture's path
 * of 4,032 bytes or more ends the program. */
void ddp_label_path(const char *picture, char *out);

/* Look for a second label file of a picture, which training ignores, with other bytes than the
 * first. Return 1, with its path in out[0..DDP_LABEL_PATH_BYTES); else 0, with out undefined. */
int ddp_second_label_path(const char *picture, char *out);

/* Write the path where training looks for the mask of a segmenter's picture to
 * out[0..DDP_LABEL_PATH_BYTES). A picture's path of 4,092 bytes or more ends the program. */
void ddp_mask_path(const char *picture, char *out);

/* Check that a picture can be decoded, by decoding all of it as training would. Returns 0, with the
 * decoder's warning or "" in note[0..size); or -1, with the reason in note. */
int ddp_decode_picture(const char *picture, char *note, size_t size);

/* Decode a picture to grey. To save time a JPEG may be made smaller, down to an eighth, as long as
 * its shorter side keeps `side` pixels, 2 or more. Returns 0. If the picture cannot be decoded,
 * returns -1, and sets nothing.
 *   grey            becomes one byte a pixel, rows from the top; the caller frees it
 *   width, height   become the size as decoded, in pixels */
int ddp_decode_grey(const char *picture, int side, unsigned char **grey, int *width, int *height);

/* Return the orientation, 1 to 8, in `size` bytes of Exif data; 1 if there is none or the data are
 * damaged. The data are the bytes after "Exif\0\0" in a JPEG, or a PNG's whole eXIf chunk. */
int ddp_exif_orientation(const unsigned char *exif, size_t size);

/* Read a picture's size in pixels from its header. If its Exif data turn the picture by 90 degrees,
 * width and height are exchanged. Returns 0, or -1 with *width and *height undefined. */
int ddp_picture_size(const char *picture, int *width, int *height);

/* Return the names of the libraries that decode pictures, and how the one for JPEGs rounds, as a
 * static string. Programs with the same string decode a picture to the same numbers. */
const char *ddp_picture_decoders(void);

/* Return the numbers in a map file (map= of a .data file), one of each line, and -1 behind them.
 * The caller frees them. The program ends if the file cannot be read, has no number, or has a line
 * that is neither blank nor a whole number. */
int *ddp_map_read(const char *path);

#endif
