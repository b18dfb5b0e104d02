/* text/numbers.h: numbers of a cfg and of a .data file. A value is one number, or a list of numbers
 * with a comma between them. One comma may stand at its end, and a comment (# or ;) may follow. */
#ifndef DDP_TEXT_NUMBERS_H
#define DDP_TEXT_NUMBERS_H

/* Return how many numbers a list has, readable or not: 1 at least. */
int ddp_numbers_count(const char *list);

/* Return 1 if a comma stands at the end of a list. */
int ddp_numbers_end_in_comma(const char *list);

/* Read the number at *at into *value, and set *at to the next number of the list, or to an empty
 * string at its end. Returns NULL. On failure returns what is wrong, as "not a number", and leaves
 * *at as it is. ddp_numbers_next_whole takes whole numbers of an int's range alone. */
const char *ddp_numbers_next(const char **at, double *value);
const char *ddp_numbers_next_whole(const char **at, int *value);

/* Read a value that must be one number. Return NULL, or what is wrong, a static text. */
const char *ddp_number_read(const char *text, double *value);
const char *ddp_number_read_whole(const char *text, int *value);

#endif
