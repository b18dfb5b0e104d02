/* layers/heads/number_formulas.h: functions of Darknet's utils.h, for CPU and GPU (formulas.h). */
#ifndef NUMBER_FORMULAS_H
#define NUMBER_FORMULAS_H
#include "layers/heads/formulas.h"
#include <string.h>

// Return 1 if x is neither NaN nor infinite. (With -Ofast isfinite() always returns 1.)
PUBLIC_FORMULA int is_finite(float x)
{
    unsigned int bits;
    memcpy(&bits, &x, sizeof(bits));
    return (bits & 0x7f800000) != 0x7f800000;
}

PUBLIC_FORMULA float constrain(float min, float max, float a)
{
    if (a < min)
        return min;
    if (a > max)
        return max;
    return a;
}

// Return the first index of val in a[0..n); -1 if it is not there.
PUBLIC_FORMULA int int_index(int *a, int val, int n)
{
    int i;
    for (i = 0; i < n; ++i) {
        if (a[i] == val)
            return i;
    }
    return -1;
}

#endif
