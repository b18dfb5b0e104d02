#include "cli/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, WHOLE, REAL, SEED, CHOICE, TEXT, GPUS };
/* SHARED: Darknet has an option of this name, which is ours where -ddp or a ddp command is. */
enum scope { ANYWHERE, WITH_DDP, COMMAND, SHARED };

struct option {
    const char *name;
    enum kind kind;
    size_t field; /* in ddp_options; its type follows from kind */
    double low, high;
    double fallback;
    const char *words; /* of a CHOICE, separated by |, the default first */
    enum scope scope;
    const char *argument;
    const char *help;
};

#define FIELD(name) offsetof(ddp_options, name)

/* One row is one option; nothing else lists it. */
static const struct option table[] = {
    {"-ddp", FLAG, FIELD(ddp), 0, 0, 0, "", ANYWHERE, "",
     "train on all ranks of mpirun or srun; one rank without a launcher"},
    {"-ddp_ranks", WHOLE, FIELD(ranks), 1, 4096, 0, "", WITH_DDP, "N",
     "start N ranks on this host, through mpirun; under a launcher it must agree with it"},
    {"-ddp_backend", CHOICE, FIELD(backend), 0, 0, DDP_BACKEND_AUTO, "auto|nccl|mpi|solo", WITH_DDP,
     "NAME",
     "transport: nccl (GPUs), mpi (with GPUs through host memory), solo (one process), or auto: "
     "nccl for GPUs where it can be used, else mpi under a launcher, else solo"},
    {"-gpus", GPUS, FIELD(gpus), 0, 0, 0, "", SHARED, "A,B,...",
     "each host's GPUs, one for each of its ranks in turn; without a launcher, start a rank for "
     "each"},
    {"-i", WHOLE, FIELD(gpu), 0, DDP_GPU_NUMBER_MAX, -1, "", SHARED, "N",
     "the GPU of the only rank of a host; when neither is given, rank r of a host has its GPU r"},
    {"-nogpu", FLAG, FIELD(nogpu), 0, 0, 0, "", SHARED, "", "compute on CPUs"},
    {"-ddp_nccl_ctas", WHOLE, FIELD(nccl_ctas), 0, 64, 0, "", WITH_DDP, "N",
     "most thread blocks, so multiprocessors of a GPU, that NCCL takes; 0: as NCCL likes"},
    {"-ddp_fp32", WHOLE, FIELD(fp32), 0, 1, 0, "", ANYWHERE, "0|1",
     "1: convolutions on a GPU in float32 throughout; 0: in TF32 where the GPU has it"},
    {"-ddp_deterministic", WHOLE, FIELD(deterministic), 0, 1, 0, "", ANYWHERE, "0|1",
     "1: only algorithms that give a GPU the same result each time; -ddp_exact implies it"},
    {"-ddp_bucket_mb", REAL, FIELD(bucket_mb), 0.001, 1024, 0, "", WITH_DDP, "MIB",
     "capacity of a gradient bucket; when not given 4, and 25 with NCCL"},
    {"-ddp_first_bucket_mb", REAL, FIELD(first_bucket_mb), 0.001, 1024, 1, "", WITH_DDP, "MIB",
     "capacity of the first bucket, small so that communication starts early"},
    {"-ddp_defer_mb", REAL, FIELD(defer_mb), 0, 1024, 32, "", WITH_DDP, "MIB",
     "gradients of the last layers, at most a quarter of all, that travel during the next forward "
     "pass"},
    {"-ddp_overlap", WHOLE, FIELD(overlap), 0, 1, 1, "", WITH_DDP, "0|1",
     "communicate while backward computes"},
    {"-ddp_batch", CHOICE, FIELD(batch), 0, 0, DDP_CHOICE_GLOBAL, "global|rank", WITH_DDP, "HOW",
     "global: the cfg's batch is cut over the ranks; rank: every rank takes a whole batch, and the "
     "learning rate is multiplied by the number of ranks"},
    {"-ddp_broadcast_buffers", CHOICE, FIELD(broadcast_buffers), 0, 0, DDP_CHOICE_STEP, "step|save",
     WITH_DDP, "WHEN",
     "send rank 0's BatchNorm statistics at every step, or not while training (rank 0 saves "
     "its own either way)"},
    {"-ddp_find_unused", WHOLE, FIELD(find_unused), 0, 1, 1, "", WITH_DDP, "0|1",
     "1: a layer may be skipped on some rank; 0: that is an error that names it"},
    {"-ddp_sync_every", WHOLE, FIELD(sync_every), 1, 100000, 1, "", WITH_DDP, "K",
     "add up the gradients of K batches on each rank, then communicate and update once"},
    {"-ddp_seed", SEED, FIELD(seed), 0, 0, -1, "", WITH_DDP, "N",
     "seed of first weights and data; drawn and printed when not given"},
    {"-ddp_exact", FLAG, FIELD(exact), 0, 0, 0, "", WITH_DDP, "",
     "the same weights, bit for bit, on any number of ranks (powers of two up to subdivisions)"},
    {"-ddp_replace", FLAG, FIELD(replace), 0, 0, 0, "", WITH_DDP, "",
     "draw each image from the whole list, as Darknet does; otherwise each comes once an epoch"},
    {"-ddp_on_save_error", CHOICE, FIELD(on_save_error), 0, 0, DDP_CHOICE_STOP, "stop|continue",
     WITH_DDP, "HOW", "when weights cannot be saved, end the job, or train on with the last ones"},
    {"-resume", FLAG, FIELD(resume), 0, 0, 0, "", WITH_DDP, "",
     "go on from the newest checkpoint of this cfg's name in the backup directory, if there is "
     "one"},
    {"-resume_force", FLAG, FIELD(resume_force), 0, 0, 0, "", WITH_DDP, "",
     "the same, though the cfg, the list or options are no longer what they were"},
    {"-keep", WHOLE, FIELD(keep), 1, 100000, 0, "", WITH_DDP, "K",
     "keep the last K numbered checkpoints; all, when not given"},
    {"-threads", WHOLE, FIELD(threads), 1, 64, 0, "", ANYWHERE, "N",
     "threads that load images, on each rank; by default what the rank's cores allow"},
    {"-np", WHOLE, FIELD(np), 1, 4096, 0, "", COMMAND, "N", "plan: for N ranks"},
    {"-w", WHOLE, FIELD(width), 1, 65536, 0, "", COMMAND, "PIXELS", "plan, bench: input width"},
    {"-h", WHOLE, FIELD(height), 1, 65536, 0, "", COMMAND, "PIXELS", "plan, bench: input height"},
    {"-batch", WHOLE, FIELD(cfg_batch), 1, 1 << 24, 0, "", COMMAND, "N",
     "plan, bench: batch instead of the cfg's"},
    {"-subdivisions", WHOLE, FIELD(subdivisions), 1, 1 << 24, 0, "", COMMAND, "N",
     "plan, bench: subdivisions instead of the cfg's"},
    {"-steps", WHOLE, FIELD(steps), 1, 100000, 10, "", COMMAND, "N", "bench: steps to time"},
    {"-json", TEXT, FIELD(json), 0, 0, 0, "", COMMAND, "FILE",
     "bench: write the figures there too"},
    {"-trace", TEXT, FIELD(trace), 0, 0, 0, "", COMMAND, "FILE",
     "bench: write when each bucket of a step travelled, for chrome://tracing or Perfetto"},
};

enum { ROWS = sizeof table / sizeof table[0] };

static void *field_of(ddp_options *o, const struct option *row)
{
    return (char *)o + row->field;
}

static void set_number(ddp_options *o, const struct option *row, double value)
{
    void *field = field_of(o, row);

    switch (row->kind) {
    case REAL:
        *(double *)field = value;
        break;
    case SEED:
        *(int64_t *)field = (int64_t)value;
        break;
    case TEXT:
        *(const char **)field = NULL;
        break;
    case GPUS:
        *(ddp_gpu_list *)field = (ddp_gpu_list){0};
        break;
    default:
        *(int *)field = (int)value;
        break;
    }
}

static ddp_status refuse(const struct option *row, const char *value, ddp_error *err)
{
    if (row->kind == CHOICE)
        return ddp_fail(err, DDP_ERR_USAGE, "%s wants %s, not '%s'", row->name, row->words, value);
    if (row->kind == SEED)
        return ddp_fail(err, DDP_ERR_USAGE, "%s wants a whole number from 0, not '%s'", row->name,
                        value);
    if (row->kind == WHOLE && row->low == 0 && row->high == 1)
        return ddp_fail(err, DDP_ERR_USAGE, "%s wants 0 or 1, not '%s'", row->name, value);
    return ddp_fail(err, DDP_ERR_USAGE, "%s wants %s from %g to %g, not '%s'", row->name,
                    row->kind == WHOLE ? "a whole number" : "a number", row->low, row->high, value);
}

static ddp_status take_choice(ddp_options *o, const struct option *row, const char *value,
                              ddp_error *err)
{
    size_t length = strlen(value);
    const char *word = row->words;

    for (int i = 0; *word; i++) {
        size_t n = strcspn(word, "|");

        if (n == length && strncmp(word, value, n) == 0) {
            *(int *)field_of(o, row) = i;
            return DDP_OK;
        }
        word += n + (word[n] == '|');
    }
    return refuse(row, value, err);
}

static ddp_status take_value(ddp_options *o, const struct option *row, const char *value,
                             ddp_error *err)
{
    char *end = NULL;
    double number;

    errno = 0;
    switch (row->kind) {
    case CHOICE:
        return take_choice(o, row, value, err);
    case TEXT:
        if (value[0] == '-' || !value[0])
            return ddp_fail(err, DDP_ERR_USAGE, "%s wants a file name, not '%s'", row->name, value);
        *(const char **)field_of(o, row) = value;
        return DDP_OK;
    case GPUS:
        return ddp_gpu_list_parse(field_of(o, row), value, err);
    case SEED: {
        long long seed = strtoll(value, &end, 10);

        if (errno || end == value || *end || seed < 0)
            return refuse(row, value, err);
        *(int64_t *)field_of(o, row) = seed;
        return DDP_OK;
    }
    default:
        number = strtod(value, &end);
        if (errno || end == value || *end || !(number >= row->low && number <= row->high)
            || (row->kind == WHOLE && number != (double)(long)number))
            return refuse(row, value, err);
        set_number(o, row, number);
        return DDP_OK;
    }
}

static const struct option *find(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static int has_ddp(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-ddp") == 0)
            return 1;
    return 0;
}

/* Does this option mean anything to us on this command line? Options of the ddp
 * commands have short names that Darknet's own commands use too. */
static int applies(const struct option *row, int is_ddp_command, int trains)
{
    if (!row || (row->scope == COMMAND && !is_ddp_command))
        return 0;
    return row->scope != SHARED || is_ddp_command || trains;
}

static ddp_status refuse_unknown(const char *name, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_USAGE, "unknown option '%s'; `darknet ddp help` lists them", name);
}

static ddp_status check_context(const ddp_options *o, const struct option *used, int is_ddp_command,
                                ddp_error *err)
{
    if (used && !o->ddp && !is_ddp_command)
        return ddp_fail(err, DDP_ERR_USAGE, "%s needs -ddp", used->name);
    return DDP_OK;
}

ddp_status ddp_options_parse(ddp_options *o, int *argc, char **argv, ddp_error *err)
{
    int is_ddp_command = *argc > 1 && strcmp(argv[1], "ddp") == 0;
    int trains = has_ddp(*argc, argv);
    const struct option *needs_ddp = NULL;
    int kept = 1;

    *o = (ddp_options){0};
    for (int i = 0; i < ROWS; i++)
        set_number(o, &table[i], table[i].fallback);
    for (int i = 1; i < *argc; i++) {
        const struct option *row = find(argv[i]);

        if (!applies(row, is_ddp_command, trains)) {
            if (strncmp(argv[i], "-ddp", 4) == 0 || (is_ddp_command && argv[i][0] == '-'))
                return refuse_unknown(argv[i], err);
            argv[kept++] = argv[i];
            continue;
        }
        if (row->scope == WITH_DDP)
            needs_ddp = row;
        if (row->kind == FLAG) {
            *(int *)field_of(o, row) = 1;
            continue;
        }
        if (i + 1 == *argc)
            return ddp_fail(err, DDP_ERR_USAGE, "%s needs a value: %s %s", row->name, row->name,
                            row->argument);
        if (take_value(o, row, argv[++i], err))
            return err->code;
    }
    argv[kept] = NULL;
    *argc = kept;
    return check_context(o, needs_ddp, is_ddp_command, err);
}

static void print_row(FILE *out, const struct option *row)
{
    char name[64];

    (void)snprintf(name, sizeof name, "%s %s", row->name,
                   row->kind == CHOICE ? row->words : row->argument);
    (void)fprintf(out, "  %-32s %s", name, row->help);
    if (row->kind == CHOICE)
        (void)fprintf(out, " (%.*s)", (int)strcspn(row->words, "|"), row->words);
    else if (row->fallback > 0)
        (void)fprintf(out, " (%g)", row->fallback);
    (void)fprintf(out, "\n");
}

/* A sum by NCCL costs a thread and a kernel; one by MPI is cut into chunks that follow each other
 * across buckets. */
double ddp_options_bucket_mb(const ddp_options *o, int nccl)
{
    if (o->bucket_mb > 0)
        return o->bucket_mb;
    return nccl ? 25 : 4;
}

void ddp_options_help(FILE *out)
{
    for (int i = 0; i < ROWS; i++)
        print_row(out, &table[i]);
}
