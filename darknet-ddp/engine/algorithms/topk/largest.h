/* algorithms/topk/largest.h: what top-k computes on a device, of one array at a time. All memory is
 * the device's; on a GPU work is queued (device/device.h), and what is told has the bits that the
 * host gives. */
#ifndef DDP_ALGORITHMS_TOPK_LARGEST_H
#define DDP_ALGORITHMS_TOPK_LARGEST_H

#include "algorithms/topk/top_k.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Floats that a GPU works in. */
enum {
    DDP_LARGEST_BINS = 1 << 11,
    DDP_LARGEST_TILE = 1 << 12, /* elements that a block writes */
    DDP_LARGEST_SCRATCH = DDP_LARGEST_BINS + 2 + 2 * DDP_TOP_K_SECTION / DDP_LARGEST_TILE
};

/* An array and its largest elements (top_k.h). */
typedef struct ddp_largest {
    size_t count;
    double percent;
    float *m;     /* this rank's gradient; M from encode on; then the sum over ranks */
    float *error; /* m's error, of m's size */
    float *told; /* ddp_top_k_numbers numbers of rank 0; those of the next rank begin `stride` on */
    size_t stride;
    int rank, ranks;
    float *scratch; /* a GPU's DDP_LARGEST_SCRATCH floats; one encode at a time uses them */
} ddp_largest;

/* M = gradient + error; its largest are told in this rank's place. */
void ddp_largest_encode(ddp_device *d, const ddp_largest *x);

/* Set error to M without the elements that this rank has told. Then set m to the sum of the
 * elements that all ranks have told, added in the order of ranks. Call when all are there. If *ran,
 * of the device's memory, is 0, set m to zero and change nothing else. */
void ddp_largest_decode(ddp_device *d, const ddp_largest *x, const float *ran);

/* ---- a kind of device: each member does what the function of its name does ---- */

typedef struct ddp_largest_ops {
    void (*encode)(ddp_device *d, const ddp_largest *x);
    void (*decode)(ddp_device *d, const ddp_largest *x, const float *ran);
} ddp_largest_ops;

extern const ddp_largest_ops *const ddp_largest_on_gpu; /* NULL: this build is for CPUs */

#ifdef __cplusplus
}
#endif

#endif
