/* layers/onednn/threads.h: the thread that runs in a parallel region. */
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

#endif
