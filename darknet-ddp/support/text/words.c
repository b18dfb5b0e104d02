#include "text/words.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *ddp_word_next(char **at)
{
    return strtok_r(*at, " \t\r\n\v\f", at);
}

int ddp_word_number(const char *word, double *value)
{
    char *end;

    *value = strtod(word, &end);
    return end != word && !*end && !strpbrk(word, "nNxX") && fabs(*value) <= (double)FLT_MAX;
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
