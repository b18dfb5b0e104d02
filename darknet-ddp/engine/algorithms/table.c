#include "algorithms/compressor.h"

#define ALGORITHM(name) extern const ddp_algorithm ddp_algorithm_##name;
#include "algorithms/algorithms.def"

const ddp_algorithm *const ddp_algorithms[] = {&ddp_algorithm_compressor,
#define ALGORITHM(name) &ddp_algorithm_##name,
#include "algorithms/algorithms.def"
                                               NULL};

const ddp_algorithm *ddp_algorithms_find_sharded(const ddp_options *o)
{
    for (size_t i = 0; ddp_algorithms[i]; i++)
        if (ddp_algorithms[i]->sharded && ddp_algorithms[i]->is_on(o))
            return ddp_algorithms[i];
    return NULL;
}
