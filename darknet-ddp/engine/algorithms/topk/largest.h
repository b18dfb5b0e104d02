/* algorithms/topk/largest.h: what top-k computes on a device, for one array at a time: its largest
 * elements, which a rank tells the others, and their sum. All memory is the device's; on a GPU work
 * is queued (device/device.h). What is told has the same bits on a GPU and the host. */
#ifndef DDP_ALGORITHMS_TOPK_LARGEST_H
#define DDP_ALGORITHMS_TOPK_LARGEST_H

#include "algorithms/topk/top_k.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of the memory that a GPU works in, which has DDP_LARGEST_SCRATCH floats. */
enum {
    DDP_LARGEST_BINS = 1 << 11,
    DDP_LARGEST_TILE = 1 << 12, /* elements that one block of threads writes */
    DDP_LARGEST_SCRATCH = DDP_LARGEST_BINS + 2 + 2 * DDP_TOP_K_SECTION / DDP_LARGEST_TILE
};

/* An array and its largest elements (top_k.h). */
typedef struct ddp_largest {
    size_t count;   /* how many elements the array has */
    double percent; /* percent of each section's elements that a rank sends, above 0 */
    float *m; /* M's memory: before encode this rank's gradient, after decode the sum over ranks */
    float *error; /* `count` floats: what of earlier gradients this rank has not sent yet */
    float *told;  /* ddp_top_k_numbers floats that each rank sends; rank r's: told + r * stride */
    size_t stride;
    int rank, ranks;
    float *scratch; /* on a GPU: DDP_LARGEST_SCRATCH floats, for one encode at a time */
} ddp_largest;

/* Set m to M = gradient + error, and write its largest elements to this rank's place in told. */
void ddp_largest_encode(ddp_device *d, const ddp_largest *x);

/* Set error to M without the elements that this rank has told. Then set m to the sum of the
 * elements that all ranks have told, added in the order of ranks. Call when `told` has the numbers
 * of all ranks. *ran, in the device's memory, is on how many ranks the layer ran; if it is 0, set m
 * to zero and change nothing else. */
void ddp_largest_decode(ddp_device *d, const ddp_largest *x, const float *ran);

/* ---- a kind of device: what the two functions above do there ---- */

typedef struct ddp_largest_ops {
    void (*encode)(ddp_device *d, const ddp_largest *x);
    void (*decode)(ddp_device *d, const ddp_largest *x, const float *ran);
} ddp_largest_ops;

extern const ddp_largest_ops
    *const ddp_largest_on_gpu; /* the functions for GPUs; NULL: this build is for CPUs */

#ifdef __cplusplus
}
#endif

#endif
