#ifndef DETECTION_DATA_H
#define DETECTION_DATA_H
#include "darknet.h"

/* Pictures and boxes for a detector whose cfg is of the forks (a.rules): of samples a.first to
   a.first + a.n - 1, with the pictures of paths. Others that are mixed in are drawn from all a.m of
   a.paths. */
data load_data_forks(load_args a, char **paths);

#endif
