/* layers/images/classifier_data.h: loads a classifier's samples by the keys of Darknet's forks. */
#ifndef CLASSIFIER_DATA_H
#define CLASSIFIER_DATA_H
#include "darknet.h"

/* Return 1 if the cfg has a key that needs load_classes_forks (mosaic, blur, ...). rules: what its
 * [net] section asks for. */
int mixes_classes(picture_rules rules);

/* Load samples a.first to a.first + a.n - 1 for a classifier whose cfg has keys of the forks
 * (a.rules). paths: their a.n pictures. Pictures that are mixed in are drawn from all a.m of
 * a.paths. The truth of a class is then the fraction of the sample whose pictures show it (mixup:
 * 1/2 for each picture). free_data frees the result. */
data load_classes_forks(load_args a, char **paths);

#endif
