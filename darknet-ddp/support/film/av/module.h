/* film/av/module.h: the module that reads and writes films by libavformat (film/film.h). */
#ifndef DDP_FILM_AV_MODULE_H
#define DDP_FILM_AV_MODULE_H

#include "film/film.h"

ddp_status ddp_film_open(ddp_film_reader **out, const char *path, ddp_film_info *info,
                         ddp_error *err);
ddp_status ddp_film_read(ddp_film_reader *film, unsigned char *rgb, int *got, ddp_error *err);
void ddp_film_close(ddp_film_reader *film);
ddp_status ddp_film_create(ddp_film_writer **out, const char *path, const ddp_film_info *info,
                           ddp_error *err);
ddp_status ddp_film_write(ddp_film_writer *film, const unsigned char *rgb, ddp_error *err);
ddp_status ddp_film_finish(ddp_film_writer *film, ddp_error *err);

/* The functions above, as a table. film.c looks its name up in the module (dlsym). */
extern const ddp_film_functions ddp_film_module;

#endif
