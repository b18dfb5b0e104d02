/* core/feedback.h: what compression of gradients (core/compressor.h) remembers from step to step.
 *
 * Of each parameter that is compressed a rank keeps its own error, what its gradients had and the
 * others were not told, which is added to its next gradient; with PowerSGD all ranks alike keep Q,
 * with which the next step begins (its warm start). Parameters that are no matrices, or too small
 * to pay, are not compressed: both are NULL for them.
 *
 * A run that is saved has the errors of all ranks: rank 0 gathers them. On as many ranks each gets
 * its own back. On another number old rank r's is added to that of new rank r modulo their number,
 * in the order of r: gradients are sums over ranks, so the sum of all errors is what counts, and it
 * stays.
 */
#ifndef DDP_CORE_FEEDBACK_H
#define DDP_CORE_FEEDBACK_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"
#include "device/matrix.h"

typedef enum ddp_compress_method {
    DDP_COMPRESS_NONE,
    DDP_COMPRESS_POWERSGD,
    DDP_COMPRESS_TOP_K
} ddp_compress_method;

/* The same on all ranks. */
typedef struct ddp_compress_config {
    ddp_compress_method method;
    int rank;       /* of DDP_COMPRESS_POWERSGD: columns of P and Q, at least 1 */
    double percent; /* of DDP_COMPRESS_TOP_K, of a matrix's elements, above 0 and at most 25 */
} ddp_compress_config;

/* A parameter goes plain where compressing does not divide what is told of it by more than this. */
enum { DDP_COMPRESS_LEAST = 2 };

/* The matrix that a parameter is to compression; rows is 0 where it goes plain. */
ddp_shape ddp_compress_shape(const ddp_compress_config *config, const ddp_param *param);

/* Numbers that so many ranks sum for a parameter, run counts not counted. */
size_t ddp_compress_sends(const ddp_compress_config *config, const ddp_param *param, int ranks);

typedef struct ddp_feedback ddp_feedback;

/* What it remembers of one parameter: NULL where the parameter goes plain, and q and drawn also
 * without Q. */
typedef struct ddp_memory {
    float *error;       /* this rank's, as many elements as the parameter */
    float *q;           /* columns x rank elements, orthonormal */
    const float *drawn; /* Q as it was drawn at first: what a column that is lost becomes again */
} ddp_memory;

/* Of table's parameters, of which counts, rows and layers are looked at, here and now. Errors are
 * zero; Q is drawn, the same in each run. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_feedback_open(ddp_feedback **out, const ddp_table *table,
                             const ddp_compress_config *config, ddp_error *err) DDP_MUST_CHECK;
void ddp_feedback_close(ddp_feedback *f); /* NULL is allowed */

size_t ddp_feedback_params(const ddp_feedback *f);
ddp_compress_config ddp_feedback_config(const ddp_feedback *f);

/* Of parameter i of the table: its shape, and what is remembered of it, in host memory. While it is
 * used on a GPU that is as of the last ddp_feedback_pull or gather. */
ddp_shape ddp_feedback_shape(const ddp_feedback *f, size_t i);
ddp_memory ddp_feedback_memory(const ddp_feedback *f, size_t i);

/* ---- on a device ---- */

/* From here on what is remembered is used on d: on a GPU it takes as much memory there again. Fails
 * with DDP_ERR_NOMEM. */
ddp_status ddp_feedback_use(ddp_feedback *f, ddp_device *d, ddp_error *err) DDP_MUST_CHECK;

/* And from here on no more: host memory has it. Before d is closed; where it is not used, nothing
 * is done. */
void ddp_feedback_leave(ddp_feedback *f);

/* As ddp_feedback_memory, of d's memory; while it is used. */
ddp_memory ddp_feedback_used(const ddp_feedback *f, size_t i);

/* Host memory becomes what is used; waits for all work of a GPU. */
void ddp_feedback_pull(ddp_feedback *f);

/* ---- all ranks', on rank 0 ---- */

/* Make room for the errors of so many ranks, all zero. On any rank that wants it; group's rank 0
 * does where it reads a checkpoint. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_feedback_reserve(ddp_feedback *f, int ranks, ddp_error *err) DDP_MUST_CHECK;

/* How many ranks' there are, 0 at first, and those of one of them; NULL where it goes plain. */
int ddp_feedback_gathered(const ddp_feedback *f);
float *ddp_feedback_gathered_error(const ddp_feedback *f, int rank, size_t i);

/* Rank 0 gets the errors of all; on a GPU with a pull. Every rank calls it; blocks. Fails with
 * DDP_ERR_NOMEM on rank 0, and DDP_ERR_COMM. */
ddp_status ddp_feedback_gather(ddp_feedback *f, ddp_group *group, ddp_error *err) DDP_MUST_CHECK;

/* The way back: ranks get what rank 0 has reserved and filled, where it has, and its Q. Every rank
 * calls it, while it is used nowhere; blocks. *ranks becomes how many had left errors, 0: nobody.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_feedback_scatter(ddp_feedback *f, ddp_group *group, int *ranks,
                                ddp_error *err) DDP_MUST_CHECK;

#endif
