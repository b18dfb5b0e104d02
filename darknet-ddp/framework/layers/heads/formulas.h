#ifndef FORMULAS_H
#define FORMULAS_H

/*
 * What CPU and GPU compute alike is written once, in files named *_formulas.h. A .c file that
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

/* Threads that run the same formula on the same place and share what it does for each class; on the
   CPU, and where a place has a thread of its own, there is one. */
typedef struct {
    int lane, lanes;
} team;

#define ALONE                                                                                      \
    {                                                                                              \
        0, 1                                                                                       \
    }

/* What any of the team has written before, all can read behind. */
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
