/* options/options.h: our options, in Darknet's style: -name value, anywhere on the line.
 * One table lists them, options/options.def; all else comes from it. */
#ifndef DDP_OPTIONS_OPTIONS_H
#define DDP_OPTIONS_OPTIONS_H

#include "base/status.h"
#include "base/suggest.h"
#include "comm/group_schedule.h"
#include "core/option_names.h"
#include "options/compress_options.h"
#include "options/gpu_list.h"

#include <stdint.h>
#include <stdio.h>

/* Values of CHOICE options, in the order of their words in the table. */
enum { DDP_BACKEND_AUTO, DDP_BACKEND_NCCL, DDP_BACKEND_MPI, DDP_BACKEND_GLOO, DDP_BACKEND_SOLO };
enum { DDP_CHOICE_GLOBAL, DDP_CHOICE_RANK };
enum { DDP_BF16_NO, DDP_BF16_YES, DDP_BF16_AUTO };
enum { DDP_CHOICE_STEP, DDP_CHOICE_SAVE };
enum { DDP_CHOICE_STOP, DDP_CHOICE_CONTINUE };
enum { DDP_BEST_MAP, DDP_BEST_MAP50 };
enum { DDP_JSON_BOXES, DDP_JSON_COCO };
enum { DDP_HEADS_RAW, DDP_HEADS_BOXES, DDP_HEADS_NMS };

/* The C type of a field, by the kind of its option. */
#define DDP_OPTION_FLAG int
#define DDP_OPTION_WHOLE int
#define DDP_OPTION_REAL double
#define DDP_OPTION_SEED int64_t
#define DDP_OPTION_CHOICE int
#define DDP_OPTION_SKIP int          /* N of "skip N"; 0: "stop" */
#define DDP_OPTION_TEXT const char * /* the text; NULL: not given */
#define DDP_OPTION_GPUS ddp_gpu_list
#define DDP_OPTION_COMPRESS ddp_compress_choice

/* The values of all options, a field for each row of the table. The row says which value a field
 * has if the option is not given. */
typedef struct ddp_options {
#define ROW(kind, field, ...) DDP_OPTION_##kind field;
#define GROUP(field, ...)
#include "options/options.def"
#undef GROUP
#undef ROW
} ddp_options;

/* Bits in the column `columns` of the table, where each is explained. */
enum {
    DDP_OPTION_AGREE = 1,
    DDP_OPTION_RESULTS = 2,
    DDP_OPTION_ROUNDING = 4,
    DDP_OPTION_BY_RANKS = 8,
    DDP_OPTION_ON_GPU = 16,
    DDP_OPTION_USUAL = 32
};

/* An option and its value in words: "yes" or "no" for one without an argument, "not given" for one
 * that is not given and has no default. */
typedef struct ddp_option_value {
    const char *name;
    char value[64];
    int is_default; /* 1: it has its default; always 0 for a seed */
} ddp_option_value;

/* DDP_OPTION_VALUES is the number of options, and so the most that ddp_options_list writes. */
enum {
#define ROW(kind, field, ...) DDP_OPTION_VALUE_OF_##field,
#define GROUP(field, ...)
#include "options/options.def"
#undef GROUP
#undef ROW
    DDP_OPTION_VALUES
};

/* Take every option of the table out of argv[1..*argc) into *o, and set *argc to the number of
 * words that are left. The strings of argv must outlive *o.
 *
 * Options that are not given have their defaults. -ddp_exact implies -ddp_deterministic 1. In a
 * command that trains -ddp_ranks and -ddp_hosts imply -ddp. -gpus, -i and -nogpu are Darknet's,
 * too: they are taken only with -ddp, from a command that trains on ranks, and from `darknet ddp`.
 *
 * Fails with DDP_ERR_USAGE for:
 *
 *   - a value that is missing or not accepted
 *   - an unknown option that begins with -ddp, or in `darknet ddp` with "-"
 *   - an option of a run on ranks, with a command that does not train on ranks
 *   - an option of `darknet ddp` that its command VERB does not read
 *   - an option that needs another one, such as -ddp_trace_steps without -ddp_trace
 *
 * After a failure *o and argv are of no use. */
ddp_status ddp_options_parse(ddp_options *o, int *argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

/* Read "A:B" (-ddp_trace_steps), a first and a last step with 1 <= A <= B, and return 1. Returns 0
 * if text is no such range; *first and *last may have changed then. */
int ddp_options_read_steps(const char *text, size_t *first, size_t *last);

/* Return the names of the options that errors of core/ mention; static. */
const ddp_option_names *ddp_options_names(void);

/* Return the size of a bucket in MiB: -ddp_bucket_mb, or without it what suits the transport. nccl:
 * 1 if NCCL sums. */
double ddp_options_bucket_mb(const ddp_options *o, int nccl);

/* Write to out, of DDP_OPTION_VALUES elements, the values of all options that have a bit of
 * `column` (DDP_OPTION_...), and return how many they are. Options without effect on CPUs are left
 * out unless on_gpus is 1. With ranks above 0, " (4 ranks)" follows the value of a BY_RANKS option
 * that has not its default. */
int ddp_options_list(const ddp_options *o, unsigned column, int on_gpus, int ranks,
                     ddp_option_value *out);

enum { DDP_OPTION_TEXT_SIZE = 96 };

/* Write to text[0..size) the option that is the first word of `words`, with the value that it has
 * in o: "-ddp_on_nan skip 2", "-ddp_exact". The option's value must not be a text or a list of
 * GPUs. */
void ddp_options_write(const ddp_options *o, const char *words, char *text, size_t size);

/* Return the size in MiB of the first bucket: -ddp_first_bucket_mb, or its default. */
double ddp_options_first_bucket_mb(const ddp_options *o);
/* Return the MiB of buckets that may be deferred: -ddp_defer_mb, or its default. */
double ddp_options_defer_mb(const ddp_options *o);

/* Return a text with a line for each option on which ranks must agree, and one for on_gpus (1: GPUs
 * compute). The caller frees it. NULL: no memory. */
char *ddp_options_agreement(const ddp_options *o, int on_gpus);

/* Give `near` the names of our options that may stand beside Darknet's commands, as suggestions. */
void ddp_options_near(ddp_suggest *near);

/* Return the name of the guide (darknet-ddp/docs/GUIDE.md) to the first option of ours that a text
 * names; NULL if it names none. Options of `darknet ddp` alone do not count. */
const char *ddp_options_guide(const char *text);

/* Print the table: first the options that people set, then the others by subject. */
void ddp_options_help(FILE *out);

#endif
