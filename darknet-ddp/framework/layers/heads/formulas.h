#ifndef FORMULAS_H
#define FORMULAS_H

/*
 * Formulas that CPU and GPU compute alike stand once, in files named *_formulas.h. A .c file that
 * includes one has its functions for the host; a .cu file includes device_formulas.h before it and
 * has them for kernels, under the same names.
 *
 * FORMULA is a function that its file alone calls, PUBLIC_FORMULA one that other .c files call,
 * too. C and C++ both.
 */
#ifdef DEVICE_FORMULAS
#define FORMULA static __device__ __forceinline__
#define PUBLIC_FORMULA static __device__ __forceinline__
#else
#define FORMULA static __attribute__((unused))
#define PUBLIC_FORMULA
#endif

/* Threads that run one formula on one place together, and share the work that it has for each
   class. On the CPU, and where a place has a thread of its own, there is one thread. */
typedef struct {
    int lane, lanes;
} team;

#define ALONE                                                                                      \
    {                                                                                              \
        0, 1                                                                                       \
    }

/* Wait until all of the team are here. Then each can read what any of them wrote before. */
FORMULA void team_meets(team t)
{
#ifdef DEVICE_FORMULAS
    if (t.lanes > 1)
        __syncwarp();
#else
    (void)t;
#endif
}

#endif
