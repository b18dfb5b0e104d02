/* layers/images/label_numbers.h: reads the label files of a regressor and of a classifier with
 * tags, which hold numbers. */
#ifndef LABEL_NUMBERS_H
#define LABEL_NUMBERS_H

/* Read the first k numbers of a label file into values[0..k). Ends the program through fatal() if
 * the file cannot be opened, there are fewer numbers, or one is no number. */
void load_label_values(char *path, float *values, int k);

/* Set tags[t] to 1 for each tag t of a label file; other elements of tags[0..k) stay. Ends the
 * program through fatal() if the file cannot be opened, or a word is no tag of 0 to k - 1. */
void load_label_tags(char *path, float *tags, int k);

#endif
