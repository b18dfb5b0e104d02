/* layers/images/detection_data.h: loads a detector's samples by the keys of Darknet's forks. */
#ifndef DETECTION_DATA_H
#define DETECTION_DATA_H
#include "darknet.h"

/* Load samples a.first to a.first + a.n - 1 for a detector whose cfg has keys of the forks
 * (a.rules). paths: their a.n pictures. Pictures that are mixed in are drawn from all a.m of
 * a.paths. The caller frees the result with free_data. */
data load_data_forks(load_args a, char **paths);

#endif
