/* layers/onednn/threads.h: threads of parallel regions. */
#ifndef LAYERS_ONEDNN_THREADS_H
#define LAYERS_ONEDNN_THREADS_H

#ifdef _OPENMP
#include <omp.h>
#endif

/* Return the number of this thread, from 0. */
static inline int thread_number(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* Return how many threads a parallel region has at most. */
static inline int most_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

#endif
