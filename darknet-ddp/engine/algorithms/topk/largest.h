/* algorithms/topk/largest.h: the two halves of top-k compression on a device, for one matrix at a
 * time. The first, ddp_largest_encode, adds this rank's error to its gradient, and chooses the
 * largest elements. The second, ddp_largest_decode, adds up each rank's, and renews the error.
 *
 * top_k.h has the layout of the numbers that a rank sends. All memory is the device's; on a GPU
 * work is queued (device/device.h). The host and GPUs compute the same bits. */
#ifndef DDP_ALGORITHMS_TOPK_LARGEST_H
#define DDP_ALGORITHMS_TOPK_LARGEST_H

#include "algorithms/topk/top_k.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of the scratch memory of ddp_largest_encode on a GPU. */
enum {
    DDP_LARGEST_BINS = 1 << 11, /* bins of the histogram of magnitudes */
    DDP_LARGEST_TILE = 1 << 12, /* elements that one block of threads looks through */
    /* floats of the scratch memory */
    DDP_LARGEST_SCRATCH = DDP_LARGEST_BINS + 2 + 2 * DDP_TOP_K_SECTION / DDP_LARGEST_TILE
};

struct ddp_matrix; /* see algorithms/compression.h; its `value`: percentage of elements to send */

/* Add m->error to m->gradient, and write the largest elements of the sum to this rank's place in
 * m->numbers[0].
 *   scratch   on a GPU DDP_LARGEST_SCRATCH floats, for one encode at a time; on the host NULL */
void ddp_largest_encode(ddp_device *d, const struct ddp_matrix *m, float *scratch);

/* Set m->error to m->gradient without the elements that this rank has sent. Then set m->gradient to
 * the sum of the elements that all ranks have sent, added in the order of ranks. Call when
 * m->numbers[0] has the numbers of all ranks.
 *   ran   in the device's memory: on how many ranks the layer ran. If it is 0, only set
 *         m->gradient to zero */
void ddp_largest_decode(ddp_device *d, const struct ddp_matrix *m, const float *ran);

/* ddp_largest_encode and ddp_largest_decode for one kind of device. */
typedef struct ddp_largest_ops {
    void (*encode)(ddp_device *d, const struct ddp_matrix *m, float *scratch);
    void (*decode)(ddp_device *d, const struct ddp_matrix *m, const float *ran);
} ddp_largest_ops;

/* The functions for GPUs; NULL in a build for CPUs. */
extern const ddp_largest_ops *const ddp_largest_on_gpu;

#ifdef __cplusplus
}
#endif

#endif
