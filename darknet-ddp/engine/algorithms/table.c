#include "algorithms/algorithm.h"

#define WORD(...)
#define ROW(...)

#define ALGORITHM(name) extern const ddp_algorithm ddp_algorithm_##name;
#include "algorithms/algorithms.def"
#undef ALGORITHM

const ddp_algorithm *const ddp_algorithms[] = {
#define ALGORITHM(name) &ddp_algorithm_##name,
#include "algorithms/algorithms.def"
#undef ALGORITHM
    NULL};
