/* layers/images/classifier_data.h: loads a classifier's samples if the cfg has keys of Darknet's
 * forks (mosaic, mixup, blur, ...). */
#ifndef CLASSIFIER_DATA_H
#define CLASSIFIER_DATA_H
#include "darknet.h"

/* Return 1 if `rules`, the keys of the cfg's [net], need load_classes_forks. */
int mixes_classes(picture_rules rules);

/* Load samples a.first to a.first + a.n - 1 by the keys in a.rules. `paths`: their a.n pictures.
 * Pictures to mix in are drawn from the a.m pictures of a.paths. free_data frees the result. The
 * truth of a class is the fraction of the sample that shows it (mixup: 1/2 for each picture),
 * then smoothed by label_smooth_eps. */
data load_classes_forks(load_args a, char **paths);

#endif
