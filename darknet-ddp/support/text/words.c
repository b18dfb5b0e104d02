#include "text/words.h"

#include "text/numbers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

char *ddp_word_next(char **at)
{
    return strtok_r(*at, " \t\r\n\v\f", at);
}

int ddp_word_number(const char *word, double *value)
{
    return !strpbrk(word, ",;#") && !ddp_number_read(word, value);
}

int ddp_word_whole(const char *word, int *value)
{
    const char *digits = word + (*word == '-' || *word == '+');
    long number;

    if (!*digits || digits[strspn(digits, "0123456789")])
        return 0;
    number = strtol(word, NULL, 10);
    *value = (int)(number < INT_MIN ? INT_MIN : number > INT_MAX ? INT_MAX : number);
    return 1;
}
