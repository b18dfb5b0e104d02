/* film/film.h: films as frames of pixels, read and written by libavformat and libavcodec. They are
 * in a module (av/, darknet-ddp-film.so), so that a program without films does not load them.
 *
 * 1. ddp_film_load gives the module's functions.
 * 2. open and read give the frames of a film; create and write make one.
 * 3. close and finish end them. */
#ifndef DDP_FILM_FILM_H
#define DDP_FILM_FILM_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_film_reader ddp_film_reader;
typedef struct ddp_film_writer ddp_film_writer;

typedef struct ddp_film_info {
    int width, height;      /* size of a frame in pixels */
    int rate, rate_divisor; /* rate / rate_divisor frames a second */
    size_t frames;          /* number of frames as the file tells it; 0: it does not */
} ddp_film_info;

typedef struct ddp_film_functions {
    /* Open the film at path, and fill *info. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
    ddp_status (*open)(ddp_film_reader **out, const char *path, ddp_film_info *info,
                       ddp_error *err);
    /* Read the next frame into rgb: 3 bytes for each pixel of info's size, red first, rows from the
     * top. Sets *got to 1, or to 0 at the film's end or on failure. Damaged parts are passed over.
     * Fails with DDP_ERR_IO. */
    ddp_status (*read)(ddp_film_reader *film, unsigned char *rgb, int *got, ddp_error *err);
    void (*close)(ddp_film_reader *film); /* Free the reader; film may be NULL. */
    /* Create a film whose frames have info's size and rate; info->frames is not read. The ending of
     * path decides about the format. A side of an odd number of pixels loses the last one. Fails
     * with DDP_ERR_IO, DDP_ERR_NOMEM. */
    ddp_status (*create)(ddp_film_writer **out, const char *path, const ddp_film_info *info,
                         ddp_error *err);
    /* Write a frame of info's size, laid out as for `read`. Fails with DDP_ERR_IO. */
    ddp_status (*write)(ddp_film_writer *film, const unsigned char *rgb, ddp_error *err);
    /* Write what is left, and free the writer, in any case. Fails with DDP_ERR_IO. */
    ddp_status (*finish)(ddp_film_writer *film, ddp_error *err);
} ddp_film_functions;

/* Return the module's functions. Returns NULL, with *err of DDP_ERR_USAGE, if this build has no
 * module, or the libraries are not installed; the sentence says what to install. */
const ddp_film_functions *ddp_film_load(ddp_error *err);

#endif
