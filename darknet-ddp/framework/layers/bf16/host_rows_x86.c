#include "layers/bf16/host_rows.h"

#ifdef __x86_64__
#define LANES_BF16
#define ROW_LOOP LANES
#include "layers/bf16/host_rows_loops.h"

const bf16_row_loops bf16_row_loops_avx512 = {
    .add_moments = add_moments,
    .normalize = normalize_rows,
    .sum_deltas = sum_deltas,
    .finish_deltas = finish_deltas,
};
#endif
