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

const ddp_algorithm *ddp_algorithms_halving(const ddp_options *o)
{
    for (size_t i = 0; ddp_algorithms[i]; i++)
        if (ddp_algorithms[i]->halves && ddp_algorithms[i]->is_on(o))
            return ddp_algorithms[i];
    return NULL;
}
