/* options/options.h: the options of this program. They are written like Darknet's, -name value, and
 * may be anywhere on the command line. The table options/options.def lists them all; the fields
 * below, the parser, the help and the documents are made of it. */
#ifndef DDP_OPTIONS_OPTIONS_H
#define DDP_OPTIONS_OPTIONS_H

#include "base/status.h"
#include "base/suggest.h"
#include "comm/group_schedule.h"
#include "core/batch.h"
#include "core/option_names.h"
#include "options/compress_options.h"
#include "options/gpu_list.h"

#include <stdint.h>
#include <stdio.h>

/* Values of CHOICE options, in the order of their words in options.def: DDP_BF16_AUTO is the word
 * auto of -ddp_bf16. Values of -ddp_batch are a ddp_batch_mode, those of -ddp_schedule a
 * ddp_schedule (comm/group_schedule.h). */
enum { DDP_BACKEND_AUTO, DDP_BACKEND_NCCL, DDP_BACKEND_MPI, DDP_BACKEND_GLOO, DDP_BACKEND_SOLO };
enum { DDP_BF16_NO, DDP_BF16_YES, DDP_BF16_AUTO };
enum { DDP_BUFFERS_STEP, DDP_BUFFERS_SAVE };           /* values of -ddp_broadcast_buffers */
enum { DDP_SAVE_ERROR_STOP, DDP_SAVE_ERROR_CONTINUE }; /* values of -ddp_on_save_error */
enum { DDP_BEST_MAP, DDP_BEST_MAP50 };
enum { DDP_JSON_BOXES, DDP_JSON_COCO }; /* values of -json_format */
enum { DDP_HEADS_RAW, DDP_HEADS_BOXES, DDP_HEADS_NMS };

/* The C type of an option's field in ddp_options, by the option's kind. */
#define DDP_OPTION_FLAG int
#define DDP_OPTION_WHOLE int
#define DDP_OPTION_REAL double
#define DDP_OPTION_SEED int64_t /* -1: not given */
#define DDP_OPTION_CHOICE int
#define DDP_OPTION_SKIP int          /* value of an option "stop" or "skip N": 0 or N */
#define DDP_OPTION_TEXT const char * /* the text; NULL: not given; "": given without one */
#define DDP_OPTION_GPUS ddp_gpu_list
#define DDP_OPTION_COMPRESS ddp_compress_choice

/* The values of all options: a field for each row of the table, with the default of the row if the
 * option is not given. */
typedef struct ddp_options {
#define ROW(kind, field, ...) DDP_OPTION_##kind field;
#define GROUP(field, ...)
#include "options/options.def"
#undef GROUP
#undef ROW
} ddp_options;

/* Bits of the table's column named `columns`, facts about an option. options/options.def explains
 * each bit. */
enum {
    DDP_OPTION_AGREE = 1,
    DDP_OPTION_RESULTS = 2,
    DDP_OPTION_ROUNDING = 4,
    DDP_OPTION_BY_RANKS = 8,
    DDP_OPTION_ON_GPU = 16,
    DDP_OPTION_USUAL = 32
};

/* An option and its value. */
typedef struct ddp_option_value {
    const char *name;
    /* the value in the form in which it is typed, cut if it is longer. "yes" or "no" if the option
     * has no argument; "not given" if it is not given and has no default */
    char value[64];
    int is_default; /* 1: the value is the default; always 0 for a seed */
} ddp_option_value;

/* DDP_OPTION_ROW_field: the number of each option's row in the table, from 0. DDP_OPTION_ROWS: how
 * many options there are. */
enum {
#define ROW(kind, field, ...) DDP_OPTION_ROW_##field,
#define GROUP(field, ...)
#include "options/options.def"
#undef GROUP
#undef ROW
    DDP_OPTION_ROWS
};

/* Read the options of the table from argv[1..*argc) into *o, and remove them from argv. *argc
 * becomes the number of words that are left. The strings of argv must outlive *o.
 *
 * -ddp_exact implies -ddp_deterministic 1. In a command that trains on ranks, -ddp_ranks and
 * -ddp_hosts imply -ddp. Options that Darknet's commands may have, too, such as -gpus and -width,
 * are read only with -ddp, in a command that trains on ranks, and in `darknet ddp`. Those of
 * `darknet ddp` alone are read only there.
 *
 * Fails with DDP_ERR_USAGE, and *o and argv are then of no use, for:
 *   - a value that is missing or not accepted
 *   - a 0 or 1 after an option without a value: with -ddp, in a command that trains on ranks, or in
 *     `darknet ddp`
 *   - an unknown option that begins with -ddp, or in `darknet ddp` with "-"
 *   - without -ddp, an option of a run on ranks in a Darknet command that does not train on them
 *   - in `darknet ddp VERB`, an option of other VERBs alone, -ddp_lone or -ddp_compress_after
 *   - -ddp_lone with -ddp, -tensorboard with -ddp_records 0, -ddp_trace_steps without -ddp_trace
 *   - -ddp_compress_after without a compression as -ddp_compress */
ddp_status ddp_options_parse(ddp_options *o, int *argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

/* Read the value "A:B" of -ddp_trace_steps, a first and a last step with 1 <= A <= B, and return 1.
 * If text is no such value, return 0; *first and *last may have changed then. */
int ddp_options_read_steps(const char *text, size_t *first, size_t *last);

/* Return the names of options for the errors of core/ (core/option_names.h); static. */
const ddp_option_names *ddp_options_names(void);

/* Return the size of a bucket in MiB: -ddp_bucket_mb, or its default, which depends on what sums
 * gradients. nccl: 1 if it is NCCL, else 0. */
double ddp_options_bucket_mb(const ddp_options *o, int nccl);

/* Write the values of all options that have the bit `column`, such as DDP_OPTION_RESULTS, to out,
 * which has DDP_OPTION_ROWS elements. Returns how many they are. Not for DDP_OPTION_USUAL.
 *
 *   on_gpus  0: leave out options with the bit DDP_OPTION_ON_GPU; 1: do not
 *   ranks    above 0: add " (4 ranks)", say, to each value that is not its default and has the bit
 *            DDP_OPTION_BY_RANKS; 0: add nothing */
int ddp_options_list(const ddp_options *o, unsigned column, int on_gpus, int ranks,
                     ddp_option_value *out);

enum { DDP_OPTION_TEXT_SIZE = 96 }; /* bytes that ddp_options_write_one needs at most */

/* Write an option as it is typed, with its value in o, to text[0..size): "-ddp_on_nan skip 2",
 * "-ddp_exact". words: the option's name is the first word; others are ignored. The option must not
 * be of kind TEXT or GPUS. */
void ddp_options_write_one(const ddp_options *o, const char *words, char *text, size_t size);

/* Return the size in MiB of the first bucket: -ddp_first_bucket_mb, or its default. */
double ddp_options_first_bucket_mb(const ddp_options *o);
/* Return how many MiB of buckets may be deferred: -ddp_defer_mb, or its default. */
double ddp_options_defer_mb(const ddp_options *o);

/* Return a text for ddp_agree: a line for on_gpus, and one for each option with DDP_OPTION_AGREE.
 * on_gpus 0: leave out options with DDP_OPTION_ON_GPU. The caller frees it. NULL: no memory. */
char *ddp_options_agreement(const ddp_options *o, int on_gpus);

/* Try all our options, but for those of `darknet ddp` alone and the word itself, as candidates for
 * the unknown word of `near` (ddp_suggest_try). */
void ddp_options_suggest(ddp_suggest *near);

/* Find the first option in a text that is in the table, and return the name of its guide
 * (darknet-ddp/docs/GUIDE.md); static. NULL: there is none. Options of `darknet ddp` alone do not
 * count. */
const char *ddp_options_guide(const char *text);

/* Print the help of all options: first those that most runs set, then the others by subject. */
void ddp_options_help(FILE *out);

#endif
