#include "blas.h"

#define ROW_LOOP VECTORIZE
#define ROW_TABLE bf16_row_loops_plain
#include "layers/bf16/host_rows_loops.h"
#include "layers/onednn/convolution.h"

const bf16_row_loops *bf16_row_loops_here(void)
{
#ifdef __x86_64__
    if (convolution_has_bf16())
        return &bf16_row_loops_avx512;
#endif
    return &bf16_row_loops_plain;
}

int bf16_activation_slope(ACTIVATION a, float *slope)
{
    if (a != LINEAR && a != RELU && a != LEAKY)
        return 0;
    *slope = a == LINEAR ? 1 : a == RELU ? 0 : .1F;
    return 1;
}
