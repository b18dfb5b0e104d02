/* text/words.h: words and numbers of a line of a label file, which blanks separate. */
#ifndef DDP_TEXT_WORDS_H
#define DDP_TEXT_WORDS_H

/* Cut the next word off *at, a line, and set *at to what is behind it. Returns the word; NULL: only
 * blanks are left. */
char *ddp_word_next(char **at);

/* Read a word that must be a number within a float's range, such as .5, 0.5 or 5e-1: neither
 * hexadecimal nor nan. Returns 1; or 0, with *value not to be used, if word is no such number. */
int ddp_word_number(const char *word, double *value);

/* Read a word of digits, with a sign or none. Returns 1, with *value its integer, or INT_MIN or
 * INT_MAX if that is beyond an int; 0, with *value as it was, if the word is none. */
int ddp_word_whole(const char *word, int *value);

#endif
