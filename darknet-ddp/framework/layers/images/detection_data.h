/* layers/images/detection_data.h: loads a detector's samples if the cfg is trained by the formulas
 * of Darknet's forks. */
#ifndef DETECTION_DATA_H
#define DETECTION_DATA_H
#include "darknet.h"

/* Load samples a.first to a.first + a.n - 1 by the keys in a.rules. paths[0..a.n): their pictures.
 * Pictures to mix in are drawn from a.paths[0..a.m). free_data frees the result. */
data load_data_forks(load_args a, char **paths);

#endif
