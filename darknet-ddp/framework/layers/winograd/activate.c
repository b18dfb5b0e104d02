#include "layers/winograd/activate.h"

#include "blas.h"
#include "layers/onednn.h"

/* Do what activate_array does with MISH, which it chooses anew for each value. */
VECTORIZE
static void activate_mish(float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        x[i] = mish_activate(x[i]);
}

void winograd_activate(float *x, size_t count, ACTIVATION activation)
{
    if (activation == MISH)
        activate_mish(x, count);
    else if (activation != LINEAR)
        activate_array(x, (int)count, activation);
}
