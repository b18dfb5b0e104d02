/* base/simd.h: marks functions that are compiled for several levels of x86-64 processors. The
 * loader picks the version for the processor at hand. A result must not depend on the processor. So
 * a file with sums of products must be compiled with -ffp-contract=off: else versions for newer
 * processors round a product and its addition only once. */
#ifndef DDP_BASE_SIMD_H
#define DDP_BASE_SIMD_H

/* The loader would pick before a sanitizer is ready. */
#if defined(__x86_64__) && defined(__GLIBC__) && __GNUC__ >= 12 && !defined(__clang__)             \
    && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define DDP_TARGET_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define DDP_TARGET_CLONES
#endif

/* Marks a function that a function with DDP_TARGET_CLONES calls: it is compiled for each level. */
#define DDP_ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
