#include "text/numbers.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_end(char c)
{
    return c == 0 || c == '#' || c == ';';
}

int ddp_numbers_count(const char *list)
{
    int n = 1;

    for (; !is_end(*list); list++)
        n += *list == ',' && !is_end(list[1]);
    return n;
}

int ddp_numbers_end_in_comma(const char *list)
{
    size_t length = strcspn(list, "#;");

    return length > 0 && list[length - 1] == ',';
}

const char *ddp_numbers_next(const char **at, double *value)
{
    size_t length = strspn(*at, "+-.0123456789eE"); /* neither words nor hexadecimal numbers */
    char *end;

    *value = strtod(*at, &end);
    if (length == 0 || end != *at + length)
        return "not a number";
    end += strspn(end, " \t"); /* before a comment of a .data file */
    if (*end != ',' && !is_end(*end))
        return "not a number";
    if (!(fabs(*value) <= (double)FLT_MAX))
        return "out of range";
    end += *end == ',';
    *at = is_end(*end) ? "" : end;
    return NULL;
}

const char *ddp_numbers_next_whole(const char **at, int *value)
{
    const char *next = *at;
    double number;
    const char *wrong = ddp_numbers_next(&next, &number);

    if (wrong)
        return wrong;
    if (fabs(number) > INT_MAX)
        return "out of range";
    if (number != floor(number))
        return "not a whole number";
    *value = (int)number;
    *at = next;
    return NULL;
}

static const char *single(const char *wrong, const char *rest)
{
    return wrong ? wrong : *rest ? "not a single number" : NULL;
}

const char *ddp_number_read(const char *text, double *value)
{
    const char *wrong = ddp_numbers_next(&text, value);

    return single(wrong, text);
}

const char *ddp_number_read_whole(const char *text, int *value)
{
    const char *wrong = ddp_numbers_next_whole(&text, value);

    return single(wrong, text);
}
