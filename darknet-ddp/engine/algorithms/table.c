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

const ddp_algorithm *ddp_algorithms_summing(const ddp_options *o)
{
    for (size_t i = 0; ddp_algorithms[i]; i++)
        if (ddp_algorithms[i]->sum && ddp_algorithms[i]->is_on(o))
            return ddp_algorithms[i];
    return NULL;
}

ddp_status ddp_algorithms_check_ranks(const ddp_options *o, int ranks, ddp_error *err)
{
    for (size_t i = 0; ddp_algorithms[i]; i++) {
        const ddp_algorithm *a = ddp_algorithms[i];

        if (a->check_ranks && a->is_on(o) && a->check_ranks(o, ranks, err))
            return err->code;
    }
    return DDP_OK;
}
