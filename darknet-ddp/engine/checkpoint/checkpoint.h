/* checkpoint/checkpoint.h: the state file, which holds what a run must know, beside its
 * weights file, to go on exactly.
 *
 * The file holds, in this order:
 *
 *   1. a header, text that one can read with head(1)
 *   2. the cfg's text
 *   3. the arrays, binary, each behind a record of 64 bytes
 *      (uint32 layer, uint32 0, uint64 count, char part[32], char name[16])
 *   4. XXH3 of all before it
 *
 * Numbers are little endian, floats as in memory. The header ends with its own hash. It has the
 * file's length, so that it tells whether the file can be whole. */
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
    /* Most floats that a source is asked for at once while a state file is written.
     * ddp_checkpoint_get may ask for more. */
    DDP_CHECKPOINT_BLOCK = 1 << 18
};

/* An option whose value changes results. Both texts end with 0; the name has no blanks. */
typedef struct ddp_checkpoint_option {
    char name[DDP_CHECKPOINT_NAME_BYTES];
    char value[DDP_CHECKPOINT_VALUE_BYTES];
} ddp_checkpoint_option;

/* The contents of a state file's header. */
typedef struct ddp_checkpoint_metadata {
    char base[DDP_CHECKPOINT_BASE_BYTES]; /* the run's name: the cfg's, without folder and end */
    uint64_t saved_at_ns;   /* when it was saved: wall clock, nanoseconds since 1970 */
    uint64_t step, seen, t; /* batches, images and updates that the run has made so far */
    uint64_t seed;
    uint64_t epoch,
        position; /* place in the training list: for people, since it follows from seen */
    uint64_t list_count, list_hash; /* lines of the training list, 0 if unknown, and their hash */
    uint64_t width,
        height;         /* input size of the network: for people, since random=1 draws it by step */
    uint64_t ranks;     /* how many ranks trained; any number may go on */
    float average_loss; /* Darknet's running average of the loss; below 0: none yet */
    uint64_t values_hash;                 /* caller's hash of every parameter and buffer */
    uint64_t weights_bytes, weights_hash; /* bytes of the weights file, and its hash */
    int is_header_alone; /* 1: the file that was read has neither cfg nor arrays (find.h) */
    size_t option_count;
    ddp_checkpoint_option options[DDP_CHECKPOINT_OPTIONS];
} ddp_checkpoint_metadata;

/* An array of floats of a layer: "momentum" (name) of its "weights" (part), borrowed texts. */
typedef struct ddp_checkpoint_array {
    int layer;
    const char *part, *name; /* part: at most 31 bytes; name: at most 15 */
    size_t count;            /* how many floats it has */
    void *data;              /* the floats; NULL: the checkpoint's source has them */
    size_t key;              /* number by which the source knows the array */
} ddp_checkpoint_array;

/* Reads arrays that are not in memory: from a state file, or from other ranks. */
typedef struct ddp_checkpoint_source {
    /* Copy elements at to at + count - 1 of the array of this key to block. While a state file is
     * written, count is at most DDP_CHECKPOINT_BLOCK, and arrays are asked for in their order, each
     * from its first element to its last. */
    ddp_status (*read)(void *ctx, size_t key, size_t at, float *block, size_t count,
                       ddp_error *err);
    void *ctx;
} ddp_checkpoint_source;

/* A function that may move away the file at path. The thread that saves calls it when a pair is on
 * the disk and its weights are about to get the name path (checkpoint/pair.h). If it fails, the
 * save fails with its error. */
typedef struct ddp_checkpoint_guard {
    ddp_status (*before)(void *ctx, const char *path, ddp_error *err);
    void *ctx;
} ddp_checkpoint_guard;

/* A state file, read or to be written. */
typedef struct ddp_checkpoint {
    ddp_checkpoint_metadata metadata;
    const char *cfg; /* the cfg's text, not ended by 0 */
    size_t cfg_bytes;
    size_t array_count;
    ddp_checkpoint_array *arrays;
    const ddp_checkpoint_source *source; /* reads arrays without data; NULL: all have data */
    const ddp_checkpoint_guard *guard;   /* called while it is saved; NULL: none */
    void *memory;                        /* holds cfg and the arrays' names, if it was read */
    struct ddp_checkpoint_place *place;  /* where arrays are read from; NULL: it was not read */
} ddp_checkpoint;

/* Add an option to metadata. A name or value that is too long is cut; control characters become
 * '?'. Fails with DDP_ERR_USAGE if there are DDP_CHECKPOINT_OPTIONS already. */
ddp_status ddp_checkpoint_add_option(ddp_checkpoint_metadata *metadata, const char *name,
                                     const char *value, ddp_error *err) DDP_MUST_CHECK;

/* Copy the run's name to metadata, cut if too long; a byte that no line of text can hold becomes
 * '?'. */
void ddp_checkpoint_set_base(ddp_checkpoint_metadata *metadata, const char *base);

/* Write the bytes of c's state file to f. Write errors appear when f is finished; after one the
 * source is asked for nothing more. Fails with DDP_ERR_USAGE if a part's or array's name is too
 * long. With a source, fails also with its error, and with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_write(const ddp_checkpoint *c, ddp_file *f,
                                ddp_error *err) DDP_MUST_CHECK;

/* Parse a state file that is bytes[0..size), which may be anything and must outlive *out. Release
 * *out with ddp_checkpoint_release; on failure it is empty. Fails with DDP_ERR_FORMAT (these are no
 * state file's bytes, or damaged ones), DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_parse(ddp_checkpoint *out, const void *bytes, size_t size,
                                ddp_error *err) DDP_MUST_CHECK;

/* Check a whole state file, and read all of it but its arrays' floats. The file stays open, for
 * ddp_checkpoint_get, until ddp_checkpoint_release; on failure *out is empty. Fails as
 * ddp_checkpoint_parse, and with DDP_ERR_IO. */
ddp_status ddp_checkpoint_read(ddp_checkpoint *out, const char *path,
                               ddp_error *err) DDP_MUST_CHECK;

/* Copy elements at to at + count - 1 of c's array i, from 0, to x. The array must have data, or c a
 * source. Fails as the source does (a file: DDP_ERR_IO). */
ddp_status ddp_checkpoint_get(const ddp_checkpoint *c, size_t i, size_t at, float *x, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* Read and check a state file's header alone, and that the file has the length that the header
 * tells. Fails with DDP_ERR_FORMAT, DDP_ERR_IO. */
ddp_status ddp_checkpoint_peek(ddp_checkpoint_metadata *out, const char *path,
                               ddp_error *err) DDP_MUST_CHECK;

/* Free what reading allocated, and close the file. *c was read, or is all zero; it is all zero
 * afterwards. */
void ddp_checkpoint_release(ddp_checkpoint *c);

/* Fail with DDP_ERR_MISMATCH if c's arrays are not arrays[0..count), in this order, by layer, part,
 * name and count. The text names the first that differs. */
ddp_status ddp_checkpoint_check_arrays(const ddp_checkpoint *c, const ddp_checkpoint_array *arrays,
                                       size_t count, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_FORMAT if an element of c's arrays is not finite; the text names the first such
 * array. Arrays with neither data nor a source are left out. Fails also as ddp_checkpoint_get, and
 * with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_check_finite(const ddp_checkpoint *c, ddp_error *err) DDP_MUST_CHECK;

/* Always fail, with DDP_ERR_FORMAT and ddp_checkpoint_check_finite's text for this array. */
ddp_status ddp_checkpoint_not_finite(const ddp_checkpoint_array *array,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Copy c's arrays to the data of arrays[0..count), which ddp_checkpoint_check_arrays has passed.
 * Arrays whose data is NULL are left out. Fails as ddp_checkpoint_get. */
ddp_status ddp_checkpoint_copy_arrays(const ddp_checkpoint *c, const ddp_checkpoint_array *arrays,
                                      size_t count, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH if options[0..count) or *seed differ from what `was` has; an option
 * that `was` lacks differs. The text names the first. seed NULL: any seed passes. */
ddp_status ddp_checkpoint_check_options(const ddp_checkpoint_metadata *was,
                                        const ddp_checkpoint_option *options, size_t count,
                                        const uint64_t *seed, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH if the training list is not the one that `was` has, by its number of
 * lines and their hash. The text says how. If was->list_count is 0, any list passes. */
ddp_status ddp_checkpoint_check_list(const ddp_checkpoint_metadata *was, uint64_t count,
                                     uint64_t hash, ddp_error *err) DDP_MUST_CHECK;

#endif
