#include "algorithms/compressor.h"

#include "algorithms/compression.h"

#include <stdlib.h>
#include <string.h>

/* A parameter is sent uncompressed unless compression saves more than this factor. */
enum { LEAST = 2 };

#define COMPRESSION(name, ...) extern const ddp_compression ddp_compression_##name;
#include "algorithms/algorithms.def"

/* By the word of -ddp_compress; NULL of a wire type. */
static const ddp_compression *const compressions[DDP_COMPRESS_WORDS] = {
#define COMPRESSION(name, ...) [DDP_COMPRESS_##name] = &ddp_compression_##name,
#include "algorithms/algorithms.def"
};

/* The words that ask for each compression, each with a zero behind it. Read as one string, they are
 * the words that ask for the first. */
static const char examples[] =
#define NUMBER_NONE(low)
#define NUMBER_WHOLE(low) ":" #low
#define NUMBER_REAL(low) ":" #low
#define COMPRESSION(name, argument, kind, low, ...) "-ddp_compress " #name NUMBER_##kind(low) "\0"
#include "algorithms/algorithms.def"
    "";

struct compressor {
    const ddp_options *options;
    const ddp_compression *compression;
    void *self; /* the compression's */
    ddp_state *state;
    size_t errors;        /* an array of state */
    ddp_matrix *matrices; /* of each parameter, without memory */
    size_t param_count;
    ddp_reducer *reducer; /* while attached */
};

static const ddp_compression *compression_of(const ddp_options *o)
{
    return compressions[o->compress.word];
}

static int is_on(const ddp_options *o)
{
    return compression_of(o) != NULL;
}

/* ---- opening ---- */

/* Return the shape of a parameter's matrix, which is the same on all ranks, trained or not. */
static ddp_matrix matrix_of(const ddp_options *o, const ddp_param *param)
{
    const ddp_matrix as_it_is = {.count = param->count};
    ddp_matrix m = {.rows = param->rows, .count = param->count, .value = o->compress.value};

    if (m.rows < 2 || m.count % m.rows)
        return as_it_is;
    m.columns = m.count / m.rows;
    for (int round = 0; round < DDP_CODEC_ROUNDS; round++)
        m.send_count[round] = compression_of(o)->send_count(m.value, m.rows, m.columns, round);
    return (m.send_count[0] + m.send_count[1]) * LEAST < m.count ? m : as_it_is;
}

ddp_status ddp_compressor_check_ranks(const ddp_options *o, int ranks, ddp_error *err)
{
    const ddp_compression *c = compression_of(o);

    return c && c->check && ranks > 1 ? c->check(o->compress.value, ranks, err) : DDP_OK;
}

int ddp_compressor_on_gpus(ddp_compress_word word)
{
    return !compressions[word] || !compressions[word]->on_cpus_only;
}

static ddp_status check_run(const ddp_algorithm_of *of, ddp_error *err)
{
    char text[DDP_COMPRESS_TEXT];

    if (ddp_compressor_on_gpus(of->options->compress.word) || ddp_device_is_host(of->device))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_compress %s works on CPUs: with -nogpu, or another word for GPUs",
                    ddp_compress_choice_format(&of->options->compress, text));
}

static ddp_status list_matrices(struct compressor *c, const ddp_algorithm_of *of, ddp_error *err)
{
    const ddp_param_table *table = of->table;

    c->matrices = calloc(table->param_count + 1, sizeof *c->matrices);
    if (!c->matrices)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu parameters", table->param_count);
    c->param_count = table->param_count;
    for (size_t i = 0; i < c->param_count; i++) {
        if (table->params[i].layer >= table->first_trained)
            c->matrices[i] = matrix_of(of->options, &table->params[i]);
        c->matrices[i].param = i;
        c->matrices[i].rank = ddp_group_rank(of->group);
        c->matrices[i].ranks = ddp_group_size(of->group);
    }
    return DDP_OK;
}

static ddp_status declare_errors(struct compressor *c, ddp_error *err)
{
    static const ddp_state_spec spec = {.name = "error", .kind = DDP_STATE_OF_RANK};
    size_t *counts = calloc(c->param_count + 1, sizeof *counts);
    ddp_status st;

    if (!counts)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu parameters", c->param_count);
    for (size_t i = 0; i < c->param_count; i++)
        counts[i] = c->matrices[i].rows ? c->matrices[i].count : 0;
    st = ddp_state_add_set(c->state, &spec, counts, &c->errors, err);
    free(counts);
    return st;
}

static void close_compressor(void *self)
{
    struct compressor *c = self;

    if (c->compression->close && c->self)
        c->compression->close(c->self);
    free(c->matrices);
    free(c);
}

static ddp_status open_compression(struct compressor *c, const ddp_algorithm_of *of, ddp_error *err)
{
    const ddp_compression_of with = {.value = of->options->compress.value,
                                     .device = of->device,
                                     .state = of->state,
                                     .matrices = c->matrices,
                                     .param_count = c->param_count};

    return c->compression->open ? c->compression->open(&c->self, &with, err) : DDP_OK;
}

static ddp_status open_compressor(void **self, const ddp_algorithm_of *of, ddp_error *err)
{
    struct compressor *c;

    if (ddp_group_size(of->group) == 1)
        return DDP_OK;
    c = calloc(1, sizeof *c);
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for compression");
    *c = (struct compressor){
        .options = of->options, .compression = compression_of(of->options), .state = of->state};
    if (list_matrices(c, of, err) || declare_errors(c, err) || open_compression(c, of, err)) {
        close_compressor(c);
        return err->code;
    }
    *self = c;
    return DDP_OK;
}

static ddp_status attach(void *self, const ddp_attached *a, ddp_error *err)
{
    struct compressor *c = self;

    (void)err;
    c->reducer = a->reducer;
    return DDP_OK;
}

/* ---- a bucket ---- */

static int gathers(const void *self)
{
    const struct compressor *c = self;

    return c->compression->gathers;
}

static size_t count(const void *self, size_t param, int round)
{
    const struct compressor *c = self;

    return c->matrices[param].send_count[round];
}

static ddp_matrix with_memory(const struct compressor *c, const ddp_codec_param *part)
{
    ddp_matrix m = c->matrices[part->param];

    m.gradient = part->gradient;
    m.error = ddp_state_on_device(c->state, c->errors, part->param);
    memcpy(m.numbers, part->numbers, sizeof m.numbers);
    m.stride = part->stride;
    return m;
}

static void encode(void *self, const ddp_codec_param *part, int round, ddp_device *queue)
{
    const struct compressor *c = self;
    ddp_matrix m = with_memory(c, part);

    c->compression->encode(c->self, &m, round, queue);
}

static void decode(void *self, const ddp_codec_param *part, const float *ran, ddp_device *d,
                   ddp_device *queue)
{
    const struct compressor *c = self;
    ddp_matrix m = with_memory(c, part);

    c->compression->decode(c->self, &m, ran, d, queue);
}

static const ddp_gradient_codec codec = {
    .gathers = gathers, .count = count, .encode = encode, .decode = decode};

/* ---- words ---- */

static int compresses(const struct compressor *c)
{
    for (size_t i = 0; i < c->param_count; i++)
        if (c->matrices[i].rows)
            return 1;
    return 0;
}

static double megabytes(size_t floats)
{
    return (double)floats * sizeof(float) / 1e6;
}

/* A # becomes the value. */
static void print_how(const char *how, double value, FILE *out)
{
    size_t length = strcspn(how, "#");

    (void)fprintf(out, "%.*s", (int)length, how);
    if (how[length])
        (void)fprintf(out, "%g%s", value, how + length + 1);
}

static void print_compressor(const void *self, FILE *out)
{
    const struct compressor *c = self;
    const ddp_compress_choice *choice;
    char text[DDP_COMPRESS_TEXT];

    if (!c)
        return;
    choice = &c->options->compress;
    if (!compresses(c)) {
        (void)fprintf(
            out,
            "DDP: -ddp_compress %s would make no matrix of this network smaller: gradients "
            "travel as they are\n",
            ddp_compress_choice_format(choice, text));
        return;
    }
    (void)fputs("DDP: gradients travel by ", out);
    print_how(c->compression->how, choice->value, out);
    (void)fprintf(out, ": %.3f MB of %.3f, and ranks keep what that leaves out for later",
                  megabytes(ddp_reducer_floats(c->reducer)),
                  megabytes(ddp_reducer_plan(c->reducer)->count));
    if (c->options->compress_after > 0)
        (void)fprintf(out, ", from step %d on", c->options->compress_after + 1);
    (void)fputs("\n", out);
}

static void print_resumed(int was, int now)
{
    if (was == now || was <= 1)
        return;
    if (now == 1)
        printf("DDP: what %d ranks have kept of compressed gradients is lost: a rank that is "
               "alone compresses nothing\n",
               was);
    else
        printf("DDP: what %d ranks have kept of compressed gradients is added up on %d\n", was,
               now);
}

/* A rank sends gathered numbers to each other rank, and numbers that are summed twice. */
size_t ddp_compressor_sends(const ddp_options *o, const ddp_param *param, int ranks)
{
    ddp_matrix m = matrix_of(o, param);

    if (!m.rows)
        return m.count;
    return compression_of(o)->gathers ? m.send_count[0] * (size_t)ranks / 2
                                      : m.send_count[0] + m.send_count[1];
}

const ddp_algorithm ddp_algorithm_compressor = {
    .example = examples,
    .claims = {.controls = DDP_CONTROLS_SUM | DDP_CONTROLS_ORDER,
               .breaks = DDP_GUARANTEE_EXACT,
               .relies = DDP_GUARANTEE_SUMS}, /* what a rank keeps waits for the next sum */
    .order_subject = "what is compressed",
    .is_on = is_on,
    .check_run = check_run,
    .open = open_compressor,
    .attach = attach,
    .close = close_compressor,
    .codec = &codec,
    .print = print_compressor,
    .print_resumed = print_resumed,
};
