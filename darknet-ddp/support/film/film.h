/* film/film.h: reads and writes video files, frame by frame, by libavformat and libavcodec. Only a
 * module (av/, darknet-ddp-film.so) links these libraries, so that most runs do not load them.
 *
 * 1. ddp_film_load loads the module, and returns its functions.
 * 2. To read a film: open, read for each frame, close.
 * 3. To write a film: create, write for each frame, finish. */
#ifndef DDP_FILM_FILM_H
#define DDP_FILM_FILM_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_film_reader ddp_film_reader;
typedef struct ddp_film_writer ddp_film_writer;

typedef struct ddp_film_info {
    int width, height;      /* size of a frame in pixels */
    int rate, rate_divisor; /* rate / rate_divisor frames a second; 25 if the file does not tell */
    size_t frames;          /* number of frames; 0: the file does not tell it */
} ddp_film_info;

typedef struct ddp_film_functions {
    /* Open the film at path, and fill *info. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
    ddp_status (*open)(ddp_film_reader **out, const char *path, ddp_film_info *info,
                       ddp_error *err);
    /* Read the next frame into rgb: 3 bytes for each pixel of the film's size, red first, rows from
     * the top. *got becomes 1; 0 on failure, at the film's end, and where the file cannot be
     * read on. Passes over damaged frames. Fails with DDP_ERR_IO. */
    ddp_status (*read)(ddp_film_reader *film, unsigned char *rgb, int *got, ddp_error *err);
    void (*close)(ddp_film_reader *film); /* Free the reader; film may be NULL. */
    /* Create a film of this size and rate, in place of any file at path, whose ending decides the
     * format. info->frames is not read. If width or height is odd, the last column or row is left
     * out. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
    ddp_status (*create)(ddp_film_writer **out, const char *path, const ddp_film_info *info,
                         ddp_error *err);
    /* Write a frame of the film's size, in the layout of `read`. Fails with DDP_ERR_IO; then call
     * `finish`, too. */
    ddp_status (*write)(ddp_film_writer *film, const unsigned char *rgb, ddp_error *err);
    /* Write all frames that are still in memory, and free the writer. Fails with DDP_ERR_IO; the
     * writer is freed all the same. */
    ddp_status (*finish)(ddp_film_writer *film, ddp_error *err);
} ddp_film_functions;

/* Return the module's functions. If this build has no module, or the libraries are not installed,
 * returns NULL with *err of DDP_ERR_USAGE, whose text says what to install. */
const ddp_film_functions *ddp_film_load(ddp_error *err);

#endif
