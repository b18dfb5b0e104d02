/* text/numbers.h: reads the numbers in a value of a .cfg or .data file. A value is one number, or a
 * list of numbers with a comma between them. A comma may stand at its end, and a comment (# or ;)
 * may follow. */
#ifndef DDP_TEXT_NUMBERS_H
#define DDP_TEXT_NUMBERS_H

/* Return how many numbers a list has, 1 at least; words that are no numbers count, too. */
int ddp_numbers_count(const char *list);

/* Return 1 if a comma stands at the end of a list. */
int ddp_numbers_end_in_comma(const char *list);

/* Read the number at *at into *value, and set *at to the next number of the list, or to an empty
 * string at its end. Returns NULL on success; else a static text about the fault, "not a number" or
 * "out of range". *at is then as it was, and *value must not be used. */
const char *ddp_numbers_next(const char **at, double *value);
/* Read a whole number as ddp_numbers_next reads a number. One that is not whole, or is not within
 * -INT_MAX to INT_MAX, is a fault, too. */
const char *ddp_numbers_next_whole(const char **at, int *value);

/* Read a value that must be a single number. Returns NULL on success; else a static text about the
 * fault, and *value must not be used. */
const char *ddp_number_read(const char *text, double *value);
/* Read a value that must be one whole number, -INT_MAX to INT_MAX. Returns as ddp_number_read. */
const char *ddp_number_read_whole(const char *text, int *value);

#endif
