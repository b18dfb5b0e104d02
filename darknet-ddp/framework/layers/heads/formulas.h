/* layers/heads/formulas.h: formulas that CPU and GPU compute alike are written once, in files named
 * *_formulas.h. A .c file that includes one gets its functions for the host. A .cu file includes
 * device_formulas.h first, and gets them for kernels, under the same names.
 *
 * FORMULA marks a function that only the including file calls, PUBLIC_FORMULA one that other .c
 * files call, too. The files are C and C++. */
#ifndef FORMULAS_H
#define FORMULAS_H

#ifdef DEVICE_FORMULAS
#define FORMULA static __device__ __forceinline__
#define PUBLIC_FORMULA static __device__ __forceinline__
#else
#define FORMULA static __attribute__((unused))
#define PUBLIC_FORMULA
#endif

/* Threads that run one formula together on one place (an anchor of a cell), and share the work for
 * its classes. `lane`: this thread's number, from 0. `lanes`: how many there are; 1 on the CPU, and
 * where each place has its own thread. */
typedef struct {
    int lane, lanes;
} team;

#define ALONE                                                                                      \
    {                                                                                              \
        0, 1                                                                                       \
    }

/* Wait until all of the team have called this. Then each can read what any wrote before. */
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
