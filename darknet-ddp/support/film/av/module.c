#include "film/av/module.h"

const ddp_film_functions ddp_film_module = {.open = ddp_film_open,
                                            .read = ddp_film_read,
                                            .close = ddp_film_close,
                                            .create = ddp_film_create,
                                            .write = ddp_film_write,
                                            .finish = ddp_film_finish};
