/* text/words.h: reads the words of a line of a label file, which blanks separate. */
#ifndef DDP_TEXT_WORDS_H
#define DDP_TEXT_WORDS_H

/* Return the next word of the line *at, cut off in place, and set *at to the rest of the line.
 * NULL: only blanks are left. */
char *ddp_word_next(char **at);

/* Set *value to the number that a word is, such as .5, 0.5 or 5e-1, and return 1. Returns 0, with
 * *value undefined, if the word is no number, hexadecimal, nan, or beyond a float's range. */
int ddp_word_number(const char *word, double *value);

/* Set *value to the integer that a word of digits, with or without a sign, is, and return 1. An
 * integer beyond an int becomes INT_MIN or INT_MAX. If the word is no such integer, returns 0, and
 * leaves *value as it is. */
int ddp_word_whole(const char *word, int *value);

#endif
