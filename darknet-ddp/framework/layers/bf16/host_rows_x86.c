#include "layers/bf16/host_rows.h"

#ifdef __x86_64__
#define LANES_BF16
#define ROW_LOOP LANES
#define ROW_TABLE bf16_row_loops_avx512
#include "layers/bf16/host_rows_loops.h"
#endif
