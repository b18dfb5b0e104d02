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

/* Choices, in the order of their words in the table. */
enum { DDP_BACKEND_AUTO, DDP_BACKEND_NCCL, DDP_BACKEND_MPI, DDP_BACKEND_GLOO, DDP_BACKEND_SOLO };
enum { DDP_CHOICE_GLOBAL, DDP_CHOICE_RANK };
enum { DDP_CHOICE_STEP, DDP_CHOICE_SAVE };
enum { DDP_CHOICE_STOP, DDP_CHOICE_CONTINUE };
enum { DDP_BEST_MAP, DDP_BEST_MAP50 };

/* The C type of each kind of option. */
#define DDP_OPTION_FLAG int
#define DDP_OPTION_WHOLE int
#define DDP_OPTION_REAL double
#define DDP_OPTION_SEED int64_t
#define DDP_OPTION_CHOICE int
#define DDP_OPTION_SKIP int          /* how many; 0: stop */
#define DDP_OPTION_TEXT const char * /* NULL: not given */
#define DDP_OPTION_GPUS ddp_gpu_list
#define DDP_OPTION_COMPRESS ddp_compress_choice

/* A field for each row; the row says what it holds when the option is not given. */
typedef struct ddp_options {
#define ROW(kind, field, ...) DDP_OPTION_##kind field;
#define GROUP(field, ...)
#include "options/options.def"
#undef GROUP
#undef ROW
} ddp_options;

/* The columns of the table; each is explained there. */
enum {
    DDP_OPTION_AGREE = 1,
    DDP_OPTION_RESULTS = 2,
    DDP_OPTION_ROUNDING = 4,
    DDP_OPTION_BY_RANKS = 8,
    DDP_OPTION_ON_GPU = 16,
    DDP_OPTION_USUAL = 32
};

/* What an option is set to, in words: "yes" or "no" for one without an argument, "not given"
 * where no value stands for that. */
typedef struct ddp_option_value {
    const char *name;
    char value[64];
    int is_default;
} ddp_option_value;

/* As many as there are options, which ddp_options_list may find. */
enum {
#define ROW(kind, field, ...) DDP_OPTION_VALUE_OF_##field,
#define GROUP(field, ...)
#include "options/options.def"
#undef GROUP
#undef ROW
    DDP_OPTION_VALUES
};

/* Take every option of the table out of argv[1..*argc), setting *argc to what is
 * left; options not given have their defaults, -ddp_exact implies -ddp_deterministic 1, and
 * -ddp_ranks and -ddp_hosts imply -ddp in a command that trains. argv strings must outlive *o.
 * -gpus, -i and -nogpu are Darknet's too: they are taken only with -ddp, from a command that trains
 * on ranks, and from `darknet ddp`. DDP_ERR_USAGE: a value is missing or not what the option
 * accepts, an unknown option begins with -ddp, or one of a run on ranks stands with a command that
 * trains none. */
ddp_status ddp_options_parse(ddp_options *o, int *argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

/* Steps "A:B", from 1 on, as -ddp_trace_steps has them. Returns 0 where text is no such range. */
int ddp_options_read_steps(const char *text, size_t *first, size_t *last);

/* The options' names, for the errors of core. */
const ddp_option_names *ddp_options_names(void);

/* MiB of a bucket: what was asked for, or what suits the transport. */
double ddp_options_bucket_mb(const ddp_options *o, int nccl);

/* The values of all options that have this column, less those that do nothing on CPUs unless
 * on_gpus; out has room for DDP_OPTION_VALUES. ranks is how many train;
 * 0: they are no part of a value. Returns the number of values. */
int ddp_options_list(const ddp_options *o, unsigned column, int on_gpus, int ranks,
                     ddp_option_value *out);

/* Write the option that `words` begin with as it is set: "-ddp_on_nan skip 2", "-ddp_exact". */
enum { DDP_OPTION_TEXT_SIZE = 96 };
void ddp_options_write(const ddp_options *o, const char *words, char *text, size_t size);

/* MiB of the first bucket, and of what is deferred: what was asked for, or the defaults. */
double ddp_options_first_bucket_mb(const ddp_options *o);
double ddp_options_defer_mb(const ddp_options *o);

/* A line for each thing on the command line on which ranks must agree. The caller frees it. NULL:
 * no memory. */
char *ddp_options_agreement(const ddp_options *o, int on_gpus);

/* Consider the options that Darknet's commands may stand beside. */
void ddp_options_near(ddp_suggest *near);

/* The guide, darknet-ddp/docs/GUIDE.md, for the first option of ours that a text names, those of
 * `darknet ddp` alone left out; NULL: none. */
const char *ddp_options_guide(const char *text);

/* Print the table: first those that people set, then the others by what they are about. */
void ddp_options_help(FILE *out);

#endif
