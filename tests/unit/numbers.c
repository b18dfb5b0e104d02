#include "numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static int holds(long double a, const char *sign, long double b)
{
    int may_be_equal = sign[strlen(sign) - 1] == '=';

    return (sign[0] == '<' && a < b) || (sign[0] == '>' && a > b) || (may_be_equal && a == b);
}

void numbers_compared(long double a, const char *sign, long double b, const char *a_text,
                      const char *b_text, const char *file, int line)
{
    if (holds(a, sign, b))
        return;
    print_error("not so: %s %s %s; they are %.18Lg and %.18Lg\n", a_text, sign, b_text, a, b);
    _fail(file, line);
}

void numbers_near(long double a, long double b, long double most, const char *a_text,
                  const char *b_text, const char *file, int line)
{
    if (fabsl(a - b) < most)
        return;
    print_error("%s is %.18Lg and %s %.18Lg: not less than %.3Lg apart\n", a_text, a, b_text, b,
                most);
    _fail(file, line);
}
