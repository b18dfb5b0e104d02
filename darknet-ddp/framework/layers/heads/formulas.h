/* layers/heads/formulas.h: lets CPU and GPU compute by the same source, in files named
 * *_formulas.h. A .c file that includes one gets its functions for the host. A .cu file includes
 * device_formulas.h first, and gets them as device functions. The files must be valid C and C++.
 *
 * FORMULA marks a function of the including file alone. PUBLIC_FORMULA marks one that other .c
 * files may call, too. "An output learns v" means: its delta becomes v - output, times a factor. */
#ifndef FORMULAS_H
#define FORMULAS_H

#ifdef DEVICE_FORMULAS
#define FORMULA static __device__ __forceinline__
#define PUBLIC_FORMULA static __device__ __forceinline__
#else
#define FORMULA static __attribute__((unused))
#define PUBLIC_FORMULA
#endif

/* The threads that compute one anchor of one cell together: each takes some of its classes. On a
 * CPU it is one thread. */
typedef struct {
    int lane;  /* this thread's number, from 0 */
    int lanes; /* number of threads: 1, or the 32 of a warp */
} team;

#define ALONE                                                                                      \
    {                                                                                              \
        0, 1                                                                                       \
    }

/* Wait until all threads of the team have called this. Each then sees what the others wrote. */
FORMULA void sync_team(team t)
{
#ifdef DEVICE_FORMULAS
    if (t.lanes > 1)
        __syncwarp();
#else
    (void)t;
#endif
}

#endif
