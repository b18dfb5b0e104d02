/* checkpoint/checkpoint.h: reads and writes the state file, which holds what a run needs, beside
 * its weights file, to go on exactly: counters, options, cfg, and arrays such as momentum.
 *
 * The file holds, in this order:
 *
 *   1. a header, text that one can read with head(1)
 *   2. the cfg's text
 *   3. the arrays, binary, each behind a record of 64 bytes
 *      (uint32 layer, uint32 0, uint64 count, char part[32], char name[16])
 *   4. XXH3 of all before it
 *
 * Numbers are little endian. The header has the length of what follows, and ends with its own
 * hash. So the header tells whether the file can be whole. Some are a header alone (find.h). */
#ifndef DDP_CHECKPOINT_CHECKPOINT_H
#define DDP_CHECKPOINT_CHECKPOINT_H

#include "base/file.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    DDP_CHECKPOINT_OPTIONS = 64,     /* most options in a state file */
    DDP_CHECKPOINT_NAME_BYTES = 32,  /* most bytes of an option's name, with the zero at its end */
    DDP_CHECKPOINT_VALUE_BYTES = 64, /* most bytes of an option's value, with the zero at its end */
    DDP_CHECKPOINT_BASE_BYTES = 256, /* most bytes of a run's name, with the zero at its end */
    /* most floats of one read from a source while a state file is written */
    DDP_CHECKPOINT_BLOCK = 1 << 18
};

/* An option of a run that changes its results. Both texts end with 0; the name has no blanks. */
typedef struct ddp_checkpoint_option {
    char name[DDP_CHECKPOINT_NAME_BYTES];
    char value[DDP_CHECKPOINT_VALUE_BYTES];
} ddp_checkpoint_option;

/* The contents of a state file's header. */
typedef struct ddp_checkpoint_metadata {
    char base[DDP_CHECKPOINT_BASE_BYTES]; /* the run's name: its cfg's, up to the first dot */
    /* when it was saved: wall clock, nanoseconds since 1970. A save sets it to now or, if the clock
     * went back, to the old value + 1 */
    uint64_t saved_at_ns;
    uint64_t step, seen, t; /* how many batches, images and updates the run has made */
    uint64_t seed;
    uint64_t epoch, position;       /* epoch, and line in it, both from 0; for people to read */
    uint64_t list_count, list_hash; /* lines of the training list (0: not known), and their hash */
    uint64_t width, height; /* input size of the network when it was saved, for people to read */
    uint64_t ranks;         /* how many ranks trained; any number may go on */
    float average_loss;     /* Darknet's running average of the loss; below 0: none yet */
    uint64_t values_hash;   /* hash of all parameters and buffers, which the caller makes */
    /* size in bytes of the weights file, and its hash; a save sets both */
    uint64_t weights_bytes, weights_hash;
    int is_header_alone; /* 1: the file that was read has no cfg and no arrays (find.h) */
    size_t option_count;
    ddp_checkpoint_option options[DDP_CHECKPOINT_OPTIONS];
} ddp_checkpoint_metadata;

/* An array of floats of a layer, such as the "momentum" (name) of its "weights" (part). The texts
 * are borrowed. */
typedef struct ddp_checkpoint_array {
    int layer;
    const char *part, *name; /* part: at most 31 bytes; name: at most 15 */
    size_t count;            /* number of floats */
    void *data;              /* the floats; NULL: ddp_checkpoint.source reads them */
    size_t key;              /* number by which ddp_checkpoint.source knows the array */
} ddp_checkpoint_array;

/* Reads the floats of arrays that are not in memory: from a state file, or from other ranks. */
typedef struct ddp_checkpoint_source {
    /* Copy elements at to at + count - 1 of the array with this key to block. While a state file is
     * written, count is at most DDP_CHECKPOINT_BLOCK, and each array is read from its first element
     * to its last, one array after the other. */
    ddp_status (*read)(void *ctx, size_t key, size_t at, float *block, size_t count,
                       ddp_error *err);
    void *ctx;
} ddp_checkpoint_source;

/* A function that a save calls when its files are on the disk and its weights are about to be named
 * path (checkpoint/pair.h). It may move away the file that has this name. If it fails, the save
 * fails with its error. */
typedef struct ddp_checkpoint_guard {
    ddp_status (*make_room)(void *ctx, const char *path, ddp_error *err);
    void *ctx;
} ddp_checkpoint_guard;

/* The contents of a state file, read or to be written. */
typedef struct ddp_checkpoint {
    ddp_checkpoint_metadata metadata;
    const char *cfg; /* the cfg's text, not ended by 0 */
    size_t cfg_bytes;
    size_t array_count;
    ddp_checkpoint_array *arrays;
    const ddp_checkpoint_source *source; /* reads arrays whose data is NULL; NULL: there are none */
    const ddp_checkpoint_guard
        *guard;   /* its function is called before a save names its weights; NULL: none */
    void *memory; /* memory of cfg and the texts of arrays, if the file was read */
    struct ddp_checkpoint_place *place; /* the file or bytes that were read; NULL: none */
} ddp_checkpoint;

/* Add an option to metadata. Its name has no blanks. Too long a name or value is cut; bytes below
 * a blank become '?'. Fails with DDP_ERR_USAGE if there are DDP_CHECKPOINT_OPTIONS already. */
ddp_status ddp_checkpoint_add_option(ddp_checkpoint_metadata *metadata, const char *name,
                                     const char *value, ddp_error *err) DDP_MUST_CHECK;

/* Set the run's name in metadata. Too long a name is cut; bytes below a blank become '?'. */
void ddp_checkpoint_set_base(ddp_checkpoint_metadata *metadata, const char *base);

/* Write c as a state file to f, which is new. A write error is reported only when f is
 * finished; from the error on, c's source is not read. Fails with DDP_ERR_USAGE (a part's or
 * array's name is too long), with the source's error, and with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_write(const ddp_checkpoint *c, ddp_file *f,
                                ddp_error *err) DDP_MUST_CHECK;

/* Parse a state file, bytes[0..size), which may be any bytes and must outlive *out:
 * ddp_checkpoint_get reads floats there. Release *out with ddp_checkpoint_release; after a failure
 * it is all zero. Fails with DDP_ERR_FORMAT (not a state file, or a damaged one), DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_parse(ddp_checkpoint *out, const void *bytes, size_t size,
                                ddp_error *err) DDP_MUST_CHECK;

/* Read the state file at path, and check all of it. The floats of arrays stay in the file, which is
 * open for ddp_checkpoint_get until ddp_checkpoint_release. After a failure *out is all zero. Fails
 * with DDP_ERR_FORMAT (not a state file, or a damaged one), DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_read(ddp_checkpoint *out, const char *path,
                               ddp_error *err) DDP_MUST_CHECK;

/* Copy elements at to at + count - 1 of c->arrays[i] to x, from its data or, if that is NULL, from
 * c's source. Fails as the source does (a file: DDP_ERR_IO). */
ddp_status ddp_checkpoint_get(const ddp_checkpoint *c, size_t i, size_t at, float *x, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* Read only the header of the state file at path. Check it, and the file's length. Fails with
 * DDP_ERR_FORMAT, DDP_ERR_IO; *out is then of no use. */
ddp_status ddp_checkpoint_peek(ddp_checkpoint_metadata *out, const char *path,
                               ddp_error *err) DDP_MUST_CHECK;

/* Free a c that was read or parsed, close its file, and set *c to zero. *c may be all zero. */
void ddp_checkpoint_release(ddp_checkpoint *c);

/* Fail with DDP_ERR_MISMATCH if c's arrays differ from arrays[0..count) in their order, or in an
 * array's layer, part, name or count. The text names the first difference. */
ddp_status ddp_checkpoint_check_arrays(const ddp_checkpoint *c, const ddp_checkpoint_array *arrays,
                                       size_t count, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_FORMAT if a number in c's arrays is not finite; the text names the first such
 * array. Arrays with neither data nor a source are skipped. Fails also with DDP_ERR_NOMEM, or with
 * the source's error (a file: DDP_ERR_IO). */
ddp_status ddp_checkpoint_check_finite(const ddp_checkpoint *c, ddp_error *err) DDP_MUST_CHECK;

/* Set *err to say that this array has a number that is not finite. Returns DDP_ERR_FORMAT. */
ddp_status ddp_checkpoint_fail_not_finite(const ddp_checkpoint_array *array,
                                          ddp_error *err) DDP_MUST_CHECK;

/* Copy c's arrays to the data of arrays[0..count), for which ddp_checkpoint_check_arrays has
 * returned DDP_OK. Arrays whose data is NULL are skipped. Fails with the error of c's source (a
 * file: DDP_ERR_IO). */
ddp_status ddp_checkpoint_copy_arrays(const ddp_checkpoint *c, const ddp_checkpoint_array *arrays,
                                      size_t count, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH if `was` has another value of the option, or lacks it. */
ddp_status ddp_checkpoint_check_option(const ddp_checkpoint_metadata *was,
                                       const ddp_checkpoint_option *option,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH if `was` has another seed. */
ddp_status ddp_checkpoint_check_seed(const ddp_checkpoint_metadata *was, uint64_t seed,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH if a training list of `count` lines with this hash is not the one that
 * `was` has. The text says how they differ. Any list passes if was->list_count is 0. */
ddp_status ddp_checkpoint_check_list(const ddp_checkpoint_metadata *was, uint64_t count,
                                     uint64_t hash, ddp_error *err) DDP_MUST_CHECK;

#endif
