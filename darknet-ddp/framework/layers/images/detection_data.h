/* layers/images/detection_data.h: loads a detector's samples if the cfg has keys of Darknet's forks
 * (mosaic, mixup, blur, ...). */
#ifndef DETECTION_DATA_H
#define DETECTION_DATA_H
#include "darknet.h"

/* Load samples a.first to a.first + a.n - 1 by the keys in a.rules. The caller frees the result
 * with free_data.
 *   paths     the a.n pictures of these samples
 *   a.paths   a.m pictures, from which those to mix in are drawn */
data load_data_forks(load_args a, char **paths);

#endif
