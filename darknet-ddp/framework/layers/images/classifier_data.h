#ifndef CLASSIFIER_DATA_H
#define CLASSIFIER_DATA_H
#include "darknet.h"

/* Does the cfg ask for more than Darknet's own loader does? */
int mixes_classes(picture_rules rules);

/* Pictures and classes for a classifier whose cfg is of the forks (a.rules): of samples a.first to
   a.first + a.n - 1, with the pictures of paths. Others that are mixed in are drawn from all a.m of
   a.paths; a class then is true by its share. */
data load_classes_forks(load_args a, char **paths);

#endif
