/* checkpoint/checkpoint.h: the state file, which holds what a run must know, beside its
 * weights file, to go on exactly.
 *
 * In order: a header, text that one can read with head(1); the cfg's text; the
 * arrays, binary, each behind a record of 64 bytes (uint32 layer, uint32 0, uint64
 * count, char part[32], char name[16]); XXH3 of all before it. Numbers are little
 * endian, floats as in memory. The header ends with its own hash, and knows the
 * file's length, so that the head of a file already tells whether it can be whole.
 */
#ifndef DDP_CHECKPOINT_CHECKPOINT_H
#define DDP_CHECKPOINT_CHECKPOINT_H

#include "base/file.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    DDP_CHECKPOINT_OPTIONS = 64,
    DDP_CHECKPOINT_NAME_BYTES = 32, /* with the zero at the end, as below */
    DDP_CHECKPOINT_VALUE_BYTES = 64,
    DDP_CHECKPOINT_BASE_BYTES = 256,
    DDP_CHECKPOINT_BLOCK = 1 << 18 /* floats */
};

/* An option that changes results. The name has no blanks. */
typedef struct ddp_checkpoint_option {
    char name[DDP_CHECKPOINT_NAME_BYTES];
    char value[DDP_CHECKPOINT_VALUE_BYTES];
} ddp_checkpoint_option;

typedef struct ddp_checkpoint_metadata {
    char base[DDP_CHECKPOINT_BASE_BYTES]; /* whose checkpoint: the cfg's name, without folder and
                                             end */
    uint64_t saved_at_ns;                 /* wall clock, since 1970 */
    uint64_t step, seen, t;               /* batches, images, updates so far */
    uint64_t seed;
    uint64_t epoch, position; /* of the sampler, in the training list: for people, as seen tells */
    uint64_t list_count, list_hash;
    uint64_t width, height;               /* of the network, for people: step tells with random=1 */
    uint64_t ranks;                       /* that trained; any number may go on */
    float average_loss;                   /* below 0: none yet */
    uint64_t values_hash;                 /* of every parameter and buffer; the caller says how */
    uint64_t weights_bytes, weights_hash; /* of the weights file */
    size_t option_count;
    ddp_checkpoint_option options[DDP_CHECKPOINT_OPTIONS];
} ddp_checkpoint_metadata;

/* count floats of the parameter `part` of a layer: "momentum" of "weights". */
typedef struct ddp_checkpoint_array {
    int layer;
    const char *part, *name; /* at most 31 and 15 bytes */
    size_t count;
    void *data; /* NULL: the checkpoint's source has them */
    size_t key; /* which knows them by this */
} ddp_checkpoint_array;

/* Where arrays are that lie elsewhere: in a state file that is read, or with other ranks. */
typedef struct ddp_checkpoint_source {
    /* Elements at to at + count of the array of this key, to block. When a state file is written
     * these are at most DDP_CHECKPOINT_BLOCK, an array's are asked for in order, and arrays as they
     * are listed. */
    ddp_status (*read)(void *ctx, size_t key, size_t at, float *block, size_t count,
                       ddp_error *err);
    void *ctx;
} ddp_checkpoint_source;

/* Asked when a pair is on the disk and its weights are about to get their name (checkpoint/pair.h),
 * by the thread that saves: what lies at path, another run's say, may be moved away. An error is
 * that of the save. */
typedef struct ddp_checkpoint_guard {
    ddp_status (*before)(void *ctx, const char *path, ddp_error *err);
    void *ctx;
} ddp_checkpoint_guard;

typedef struct ddp_checkpoint {
    ddp_checkpoint_metadata metadata;
    const char *cfg; /* the text of the cfg */
    size_t cfg_bytes;
    size_t array_count;
    ddp_checkpoint_array *arrays;
    const ddp_checkpoint_source *source; /* NULL: all arrays have data */
    const ddp_checkpoint_guard *guard;   /* of saving; NULL: none */
    void *memory;                       /* of what was read: its cfg, and the names of its arrays */
    struct ddp_checkpoint_place *place; /* and where it is read from; NULL: none of it was read */
} ddp_checkpoint;

/* Add an option; what does not fit is cut. DDP_ERR_USAGE: there are too many. */
ddp_status ddp_checkpoint_add_option(ddp_checkpoint_metadata *metadata, const char *name,
                                     const char *value, ddp_error *err) DDP_MUST_CHECK;

/* Copy a base name; what a line of text cannot hold becomes '?'. */
void ddp_checkpoint_set_base(ddp_checkpoint_metadata *metadata, const char *base);

/* Write the state file's bytes. Write errors appear when f is finished, and from the first on the
 * source is asked for nothing.
 * DDP_ERR_USAGE: a part's or array's name is too long. Fails also as the source, and where there is
 * one with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_write(const ddp_checkpoint *c, ddp_file *f,
                                ddp_error *err) DDP_MUST_CHECK;

/* Understand bytes[0..size), which must outlive *out and may be anything; release it
 * with ddp_checkpoint_release. On failure *out is empty.
 * DDP_ERR_FORMAT: it is no state file, or damaged; DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_parse(ddp_checkpoint *out, const void *bytes, size_t size,
                                ddp_error *err) DDP_MUST_CHECK;

/* Read and check a whole state file, which stays open: its arrays' floats are read when they are
 * asked for. Fails as ddp_checkpoint_parse, and with DDP_ERR_IO. */
ddp_status ddp_checkpoint_read(ddp_checkpoint *out, const char *path,
                               ddp_error *err) DDP_MUST_CHECK;

/* Elements at to at + count of c's i-th array. Fails as its source: with DDP_ERR_IO where that is a
 * file. */
ddp_status ddp_checkpoint_get(const ddp_checkpoint *c, size_t i, size_t at, float *x, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* Read and check a state file's header, and that the file has the length it tells.
 * Fails as ddp_checkpoint_read. */
ddp_status ddp_checkpoint_peek(ddp_checkpoint_metadata *out, const char *path,
                               ddp_error *err) DDP_MUST_CHECK;

/* Free what reading allocated. A checkpoint that is all zero is allowed. */
void ddp_checkpoint_release(ddp_checkpoint *c);

/* Are these arrays, by layer, part, name and count, what c holds, in this order?
 * DDP_ERR_MISMATCH names the first that is not. */
ddp_status ddp_checkpoint_check_arrays(const ddp_checkpoint *c, const ddp_checkpoint_array *arrays,
                                       size_t count, ddp_error *err) DDP_MUST_CHECK;

/* Is every element of c's arrays, those left out that have neither data nor a source, a finite
 * number? DDP_ERR_FORMAT names the first array that has another. Fails also as ddp_checkpoint_get,
 * and with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_check_finite(const ddp_checkpoint *c, ddp_error *err) DDP_MUST_CHECK;

/* What that says of an array: DDP_ERR_FORMAT. */
ddp_status ddp_checkpoint_not_finite(const ddp_checkpoint_array *array,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Copy c's arrays, which were checked, to those of these that have a place for it. Fails as
 * ddp_checkpoint_get. */
ddp_status ddp_checkpoint_copy_arrays(const ddp_checkpoint *c, const ddp_checkpoint_array *arrays,
                                      size_t count, ddp_error *err) DDP_MUST_CHECK;

/* Would a run with these options, and this seed if seed is not NULL, go on as c's?
 * DDP_ERR_MISMATCH names the first option that differs. */
ddp_status ddp_checkpoint_check_options(const ddp_checkpoint_metadata *was,
                                        const ddp_checkpoint_option *options, size_t count,
                                        const uint64_t *seed, ddp_error *err) DDP_MUST_CHECK;

/* Is this the training list that was read before, if that is known (list_count is not 0)?
 * DDP_ERR_MISMATCH says what differs. */
ddp_status ddp_checkpoint_check_list(const ddp_checkpoint_metadata *was, uint64_t count,
                                     uint64_t hash, ddp_error *err) DDP_MUST_CHECK;

#endif
