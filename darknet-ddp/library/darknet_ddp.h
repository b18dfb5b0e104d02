/* darknet_ddp.h: detects objects and classifies pictures with trained networks of Darknet, for
 * programs in C and in languages that can call C.
 *
 * 1. darknet_ddp_open reads a cfg, weights and names.
 * 2. darknet_ddp_detect or darknet_ddp_classify looks at a picture in memory.
 * 3. darknet_ddp_free frees the boxes, darknet_ddp_close the model.
 *
 * Functions that can fail return 0, or -1 with a sentence in error[0..DARKNET_DDP_ERROR). A file
 * that is refused does not end the program. Nothing is printed. But if memory runs out, or a GPU
 * fails, Darknet may end the program, and says why on standard error. Threads may use different
 * models at the same time, but not the same model. */
#ifndef DARKNET_DDP_H
#define DARKNET_DDP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DARKNET_DDP_ERROR = 1024 };

typedef struct darknet_ddp_model darknet_ddp_model;

/* An object that a detector has found. */
typedef struct darknet_ddp_box {
    int class_id;                   /* number of the class, from 0 */
    float score;                    /* from 0 to 1 */
    float left, top, width, height; /* in pixels of the picture; may reach beyond its edges */
} darknet_ddp_box;

typedef struct darknet_ddp_info {
    int is_detector;   /* 1: darknet_ddp_detect works. 0: darknet_ddp_classify does */
    int classes;       /* number of classes */
    int width, height; /* size of the network's input in pixels; pictures may have any size */
} darknet_ddp_info;

/* Return the version, such as "0.1.0", as a static string. */
const char *darknet_ddp_version(void);

/* Open the network of the file cfg with the weights of the file weights, and set *out to it, or to
 * NULL on failure.
 *   names   path of a file with a name for each class at least, one a line; NULL: no names
 *   gpu     number of a GPU, in a build for GPUs; -1: the CPU */
int darknet_ddp_open(darknet_ddp_model **out, const char *cfg, const char *weights,
                     const char *names, int gpu, char error[DARKNET_DDP_ERROR]);

/* Make later calls compute convolutions in bf16, where oneDNN can. Needs a CPU with instructions
 * for it (avx512_bf16 or AMX). Fails, with nothing changed, if the CPU has none, this library was
 * built without oneDNN, the model is on a GPU, or there is no memory. */
int darknet_ddp_use_bf16(darknet_ddp_model *model, char error[DARKNET_DDP_ERROR]);

/* Set *info to the facts of a model. */
void darknet_ddp_describe(const darknet_ddp_model *model, darknet_ddp_info *info);

/* Return the name of a class as it stands in the file of names; the model owns it. NULL: the
 * model has no names, or no class of this number. */
const char *darknet_ddp_name(const darknet_ddp_model *model, int class_id);

/* Find objects in a picture. Sets *boxes to an array of *count boxes, the likeliest first. Free it
 * with darknet_ddp_free, even if *count is 0. After a failure there is nothing to free.
 *   pixels   width * height pixels of 3 bytes, red, green, blue, rows from the top
 *   thresh   the score that a box must exceed; from 0 to 1
 *   nms      overlap above which the less likely of two boxes of a class is dropped; 0: none is
 * Fails if the model is no detector, a size is below 1, or there is no memory. */
int darknet_ddp_detect(darknet_ddp_model *model, const unsigned char *pixels, int width, int height,
                       float thresh, float nms, darknet_ddp_box **boxes, int *count,
                       char error[DARKNET_DDP_ERROR]);

/* Find objects as darknet_ddp_detect does, in a picture of floats from 0 to 1. planes: width *
 * height floats of red, then as many of green, then of blue. They are not changed. */
int darknet_ddp_detect_floats(darknet_ddp_model *model, const float *planes, int width, int height,
                              float thresh, float nms, darknet_ddp_box **boxes, int *count,
                              char error[DARKNET_DDP_ERROR]);

/* Set scores[i] to the probability of class i, 0 to 1; scores has darknet_ddp_info.classes floats.
 * pixels: width * height pixels of 3 bytes, red, green, blue, rows from the top. Fails if the model
 * is a detector, or a size is below 1. */
int darknet_ddp_classify(darknet_ddp_model *model, const unsigned char *pixels, int width,
                         int height, float *scores, char error[DARKNET_DDP_ERROR]);

/* Read the picture file at path: JPEG, PNG, BMP and others, turned upright by its Exif data. Sets
 * *width, *height and *pixels, which darknet_ddp_detect takes. Free *pixels with darknet_ddp_free.
 * Fails, with *pixels NULL, if the file cannot be read, or holds no whole picture. */
int darknet_ddp_read_picture(const char *path, unsigned char **pixels, int *width, int *height,
                             char error[DARKNET_DDP_ERROR]);

/* Free an array that a function above has returned; NULL is allowed. */
void darknet_ddp_free(void *memory);

/* Free a model; NULL is allowed. */
void darknet_ddp_close(darknet_ddp_model *model);

#ifdef __cplusplus
}
#endif

#endif
