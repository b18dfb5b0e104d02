/* Sums of a GPU's memory on real ranks: values, and order against what the GPU computes.
 * Usage: sums nccl|mpi|gloo ordered|any|halves [fp32|bf16|fp16 [CHANNELS [auto|direct|levels]]]
 *
 * Each round queues what a training step queues: a copy into the bucket, its sum, other work
 * meanwhile, then a use of the sum and a clearing of the bucket; nothing waits for the GPU in
 * between. A missing order between the GPU's queues shows in the values. A sum of host
 * memory travels between those of the GPU, as the loss does, and so does an all-gather.
 *
 * halves: each sum is made in two, and between them what is not this rank's share is cleared.
 *
 * By levels, what leaves a host is compared with the least that can: where hosts have equally many
 * ranks, a power of 2, so that a host's sum is one branch of the tree.
 *
 * Exit status: 77 without a GPU, or Gloo. Ranks fail together. */
#include "comm/collectives.h"
#include "comm/group.h"
#include "comm/group_gpu.h"
#include "comm/group_schedule.h"
#include "comm/work.h"
#include "device/device.h"

#include "../reference_sum.h"
#include "must.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUMS = 6, ROUNDS = 3, HOST_SUM = SUMS, GATHER = SUMS + 1, GATHER_COUNT = 70001 };

static const size_t counts[SUMS] = {1, 15, 5000, 262147, 0, 100003};

struct bucket {
    float *source; /* this rank's values */
    float *bucket;
    float *total; /* the sums of all rounds */
    ddp_work *sum;
};

struct run {
    ddp_group *g;
    ddp_device *d;
    int ordered, halves;
    ddp_wire wire; /* how the buckets travel */
    struct bucket buckets[SUMS];
    float loss;
    ddp_work *loss_sum;
    struct bucket parts; /* of an all-gather: source is this rank's, the others all ranks' */
};

static float *new_floats(size_t count)
{
    float *x = malloc((count + 1) * sizeof *x);

    if (!x)
        abort();
    return x;
}

static void open_bucket(struct run *r, int s)
{
    struct bucket *b = &r->buckets[s];
    float *host = new_floats(counts[s]);
    ddp_error err;

    for (size_t i = 0; i < counts[s]; i++)
        host[i] = reference_value_on(r->wire, ddp_group_rank(r->g), s, i);
    must(ddp_device_alloc(r->d, &b->source, counts[s], &err), &err);
    must(ddp_device_alloc(r->d, &b->total, counts[s], &err), &err);
    must(ddp_group_alloc_memory(r->g, r->d, &b->bucket, counts[s], &err), &err);
    must(ddp_allreduce_open_on(&b->sum, r->g, r->d, b->bucket, counts[s], r->wire, &err), &err);
    ddp_device_push(r->d, b->source, host, counts[s]);
    free(host);
}

/* The GPU still has work to do on the memory. */
static void close_bucket(struct run *r, int s)
{
    struct bucket *b = &r->buckets[s];

    ddp_device_copy(r->d, b->total, b->bucket, counts[s]);
    ddp_work_close(b->sum);
    ddp_group_free_memory(r->g, r->d, b->bucket);
    ddp_device_free(r->d, b->source);
    ddp_device_free(r->d, b->total);
}

static size_t count_of_all(const struct run *r)
{
    return (size_t)ddp_group_size(r->g) * GATHER_COUNT;
}

static void open_parts(struct run *r)
{
    struct bucket *b = &r->parts;
    float *host = new_floats(GATHER_COUNT);
    ddp_error err;

    for (size_t i = 0; i < GATHER_COUNT; i++)
        host[i] = reference_value(ddp_group_rank(r->g), GATHER, i);
    must(ddp_device_alloc(r->d, &b->source, GATHER_COUNT, &err), &err);
    must(ddp_device_alloc(r->d, &b->total, count_of_all(r), &err), &err);
    must(ddp_group_alloc_memory(r->g, r->d, &b->bucket, count_of_all(r), &err), &err);
    must(ddp_allgather_open(&b->sum, r->g, r->d, b->bucket, GATHER_COUNT, &err), &err);
    ddp_device_push(r->d, b->source, host, GATHER_COUNT);
    free(host);
}

/* Its bucket is left to the group, which is to free it before NCCL's communicators. */
static void close_parts(struct run *r)
{
    struct bucket *b = &r->parts;

    ddp_device_copy(r->d, b->total, b->bucket, count_of_all(r));
    ddp_work_close(b->sum);
    ddp_device_free(r->d, b->source);
    ddp_device_free(r->d, b->total);
}

static void start_gather(const struct run *r)
{
    const struct bucket *b = &r->parts;
    float *own = b->bucket + (size_t)ddp_group_rank(r->g) * GATHER_COUNT;
    ddp_error err;

    ddp_device_add(r->d, own, b->source, GATHER_COUNT);
    must(ddp_work_start(b->sum, &err), &err);
}

static void use_gathered(const struct run *r)
{
    const struct bucket *b = &r->parts;
    ddp_error err;

    must(ddp_work_fence(b->sum, &err), &err);
    ddp_device_add(r->d, b->total, b->bucket, count_of_all(r));
    ddp_device_zero(r->d, b->bucket, count_of_all(r));
}

/* Ranks poll differently often. */
static void poll_sum(const struct run *r, int s)
{
    ddp_error err;

    for (int polls = (s + ddp_group_rank(r->g)) % 3; polls > 0; polls--)
        must(ddp_group_progress(r->g, &err), &err);
}

/* Clear all but this rank's share: it is of no use, and so the other half must bring all of it. */
static void clear_others(const struct run *r, int s)
{
    const struct bucket *b = &r->buckets[s];
    ddp_range *own;
    size_t count, at = 0;
    ddp_error err;

    must(ddp_work_share(b->sum, &own, &count, &err), &err);
    for (size_t i = 0; i < count; i++) {
        ddp_device_zero(r->d, b->bucket + at, own[i].begin - at);
        at = own[i].end;
    }
    ddp_device_zero(r->d, b->bucket + at, counts[s] - at);
    free(own);
}

static void start(const struct run *r, int s)
{
    ddp_work *sum = r->buckets[s].sum;
    ddp_error err;

    must(r->halves ? ddp_work_start_phase(sum, DDP_REDUCE_SCATTER, &err)
                   : ddp_work_start(sum, &err),
         &err);
}

/* In the order of starting, as for the first. */
static void start_other_halves(const struct run *r)
{
    ddp_error err;

    for (int s = 0; s < SUMS && r->halves; s++) {
        must(ddp_work_fence(r->buckets[s].sum, &err), &err);
        clear_others(r, s);
        must(ddp_work_start_phase(r->buckets[s].sum, DDP_ALL_GATHER, &err), &err);
        poll_sum(r, s);
    }
}

static int one_round(struct run *r, int round)
{
    float want = reference_sum(0, ddp_group_size(r->g), HOST_SUM, (size_t)round);
    ddp_error err;

    for (int s = 0; s < SUMS; s++) {
        ddp_device_add(r->d, r->buckets[s].bucket, r->buckets[s].source, counts[s]);
        start(r, s);
        poll_sum(r, s);
        if (s != SUMS / 2)
            continue;
        start_gather(r);
        r->loss = reference_value(ddp_group_rank(r->g), HOST_SUM, (size_t)round);
        must(ddp_work_start(r->loss_sum, &err), &err);
    }
    start_other_halves(r);
    for (int s = 0; s < SUMS; s++) {
        must(ddp_work_fence(r->buckets[s].sum, &err), &err);
        ddp_device_add(r->d, r->buckets[s].total, r->buckets[s].bucket, counts[s]);
        ddp_device_zero(r->d, r->buckets[s].bucket, counts[s]);
    }
    use_gathered(r);
    must(ddp_work_wait(r->loss_sum, &err), &err);
    if (round % 2)
        must(ddp_group_synchronize(r->g, &err), &err);
    return !reference_same_bits(r->loss, want);
}

/* In any order of adding, an error of a few roundings of the largest part: a wire of 16 bits has
 * steps of 2^-7 or 2^-10 of a number. */
static float rounding_of(ddp_wire wire)
{
    return wire == DDP_WIRE_BF16 ? 0x1p-7F : wire == DDP_WIRE_FP16 ? 0x1p-10F : 1e-6F;
}

static int differs(const struct run *r, float got, float want, int s, size_t i)
{
    float largest = 0;

    if (r->ordered)
        return !reference_same_bits(got, want);
    for (int rank = 0; rank < ddp_group_size(r->g); rank++)
        largest = fmaxf(largest, fabsf(reference_value_on(r->wire, rank, s, i)));
    return !(fabsf(got - want)
             <= rounding_of(r->wire) * ROUNDS * (float)ddp_group_size(r->g) * largest);
}

static float sum_wanted(const struct run *r, int s, size_t i)
{
    if (ddp_group_size(r->g) == 1) /* nothing travels */
        return reference_value_on(r->wire, 0, s, i);
    return reference_sum_on(r->wire, 0, ddp_group_size(r->g), s, i);
}

static int wrong_total(const struct run *r, int s)
{
    float *got = new_floats(counts[s]);
    int wrong = 0;

    ddp_device_pull(r->d, got, r->buckets[s].total, counts[s]);
    for (size_t i = 0; i < counts[s] && !wrong; i++) {
        float sum = sum_wanted(r, s, i), want = 0;

        for (int round = 0; round < ROUNDS; round++)
            want += sum;
        wrong = differs(r, got[i], want, s, i);
        if (wrong)
            (void)fprintf(stderr, "rank %d: sum %d: [%zu] is %.9g, not %.9g\n",
                          ddp_group_rank(r->g), s, i, (double)got[i], (double)want);
    }
    free(got);
    return wrong;
}

/* Parts travel as they are, whatever the wire of sums. */
static int wrong_parts(const struct run *r)
{
    float *got = new_floats(count_of_all(r));
    int wrong = !ddp_work_finite(r->parts.sum);

    ddp_device_pull(r->d, got, r->parts.total, count_of_all(r));
    for (size_t i = 0; i < count_of_all(r) && !wrong; i++) {
        int rank = (int)(i / GATHER_COUNT);
        float part = reference_value(rank, GATHER, i % GATHER_COUNT), want = 0;

        for (int round = 0; round < ROUNDS; round++)
            want += part;
        wrong = !reference_same_bits(got[i], want);
        if (wrong)
            (void)fprintf(stderr, "rank %d: part of rank %d: [%zu] is %.9g, not %.9g\n",
                          ddp_group_rank(r->g), rank, i % GATHER_COUNT, (double)got[i],
                          (double)want);
    }
    free(got);
    return wrong;
}

/* Each start has an answer of its own, which a second call repeats. */
static int wrong_finite(const struct run *r)
{
    const float values[] = {1, INFINITY, 1, NAN, INFINITY, 1};
    float *x;
    ddp_work *sum;
    ddp_error err;
    int wrong = 0;

    must(ddp_group_alloc_memory(r->g, r->d, &x, 1, &err), &err);
    must(ddp_allreduce_open_on(&sum, r->g, r->d, x, 1, r->wire, &err), &err);
    wrong += !ddp_work_finite(sum);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ddp_device_set(r->d, x, &values[i], 1);
        must(ddp_work_start(sum, &err), &err);
        must(ddp_work_wait(sum, &err), &err);
        ddp_device_synchronize(r->d);
        for (int call = 0; call < 2; call++)
            wrong += ddp_work_finite(sum) != (isfinite(values[i]) != 0);
    }
    if (wrong)
        (void)fprintf(stderr, "rank %d: %d wrong answers of ddp_work_finite\n",
                      ddp_group_rank(r->g), wrong);
    ddp_work_close(sum);
    ddp_group_free_memory(r->g, r->d, x);
    return wrong;
}

static void use_gpu(ddp_group *g, int nccl, int ordered)
{
    int gpus = ddp_device_count();
    ddp_gpu_config config = {.gpu = ddp_group_local_rank(g) % gpus,
                             .shared = ddp_group_local_size(g) > gpus,
                             .nccl = nccl,
                             .exact = ordered,
                             .ctas = 4,
                             .fail = fail};
    ddp_error err;

    must(ddp_group_use_gpu(g, &config, &err), &err);
    if (ddp_group_rank(g) == 0)
        printf("%d rank%s, %s, transport %s\n", ddp_group_size(g),
               ddp_group_size(g) == 1 ? "" : "s", ddp_device_name(ddp_group_device(g)),
               ddp_group_transport(g));
}

/* ---- what leaves a host ---- */

/* Ranks of each host where all have equally many, a power of 2; else 0. */
static int ranks_a_host(ddp_group *g)
{
    ddp_error err;
    int ranks = ddp_group_local_size(g), *all = ddp_allgather_new(g, &ranks, sizeof ranks, &err);

    must(all ? DDP_OK : err.code, &err);
    for (int r = 0; r < ddp_group_size(g); r++)
        if (all[r] != all[0] || (all[r] & (all[r] - 1)) != 0)
            ranks = 0;
    free(all);
    return ranks;
}

/* Return the bytes that leave a host, the one that most leave. */
static double most_left_bytes(ddp_group *g)
{
    ddp_traffic own = ddp_group_traffic(g), *all;
    double most = 0;
    ddp_error err;

    all = ddp_allgather_new(g, &own, sizeof own, &err);
    must(all ? DDP_OK : err.code, &err);
    for (int r = 0; r < ddp_group_size(g); r++) {
        double left = 0;

        for (int other = 0; other < ddp_group_size(g); other++)
            if (strcmp(ddp_group_host(g, r), ddp_group_host(g, other)) == 0)
                left += (double)all[other].inter_host_bytes;
        most = left > most ? left : most;
    }
    free(all);
    return most;
}

static int too_much_left(const struct run *r)
{
    int ranks = ranks_a_host(r->g), hosts = ranks ? ddp_group_size(r->g) / ranks : 0;
    double left = most_left_bytes(r->g), least = 0;

    for (int s = 0; s < SUMS; s++)
        least += (double)counts[s] * sizeof(float) * ROUNDS;
    least *= hosts ? 2.0 * (hosts - 1) / hosts : 0;
    if (ddp_group_rank(r->g) == 0)
        printf("%s: %.0f bytes leave a host, the least is %.0f\n",
               ddp_group_schedule(r->g) ? ddp_group_schedule(r->g) : "NCCL", left, least);
    return hosts && left > 1.05 * least + 64 * ROUNDS; /* and the loss */
}

/* How many ranks saw something wrong. */
static int count_wrong(ddp_group *g, int wrong)
{
    uint64_t sum = wrong != 0;
    ddp_error err;

    must(ddp_sum_counts(g, &sum, 1, &err), &err);
    return (int)sum;
}

int main(int argc, char **argv)
{
    int nccl = argc >= 3 && strcmp(argv[1], "nccl") == 0;
    const char *backend = argc < 3 || nccl ? "mpi" : argv[1];
    int halves = argc >= 3 && strcmp(argv[2], "halves") == 0;
    struct run r = {.ordered = halves || (argc >= 3 && strcmp(argv[2], "ordered") == 0),
                    .halves = halves,
                    .wire = argc < 4 || strcmp(argv[3], "fp32") == 0 ? DDP_WIRE_FP32
                            : strcmp(argv[3], "bf16") == 0           ? DDP_WIRE_BF16
                                                                     : DDP_WIRE_FP16};
    int channels = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 1;
    ddp_schedule schedule = argc < 6 || strcmp(argv[5], "auto") == 0 ? DDP_SCHEDULE_AUTO
                            : strcmp(argv[5], "direct") == 0         ? DDP_SCHEDULE_DIRECT
                                                                     : DDP_SCHEDULE_HIERARCHICAL;
    ddp_error err;
    int wrong = 0;

    if (argc < 3 || argc > 6)
        return 2;
    if (ddp_device_count() == 0 || !ddp_group_has(backend))
        return 77;
    must(ddp_group_open(&r.g, backend, &err), &err);
    must(ddp_group_use_schedule(r.g, schedule, &err), &err);
    must(ddp_group_use_channels(r.g, channels, &err), &err);
    use_gpu(r.g, nccl, r.ordered);
    r.d = ddp_group_device(r.g);
    for (int s = 0; s < SUMS; s++)
        open_bucket(&r, s);
    must(ddp_allreduce_open(&r.loss_sum, r.g, &r.loss, 1, &err), &err);
    open_parts(&r);
    for (int round = 0; round < ROUNDS; round++)
        wrong += one_round(&r, round);
    for (int s = 0; s < SUMS; s++)
        wrong += wrong_total(&r, s);
    must(ddp_group_synchronize(r.g, &err), &err);
    wrong += wrong_parts(&r);
    if (nccl && r.ordered && schedule == DDP_SCHEDULE_HIERARCHICAL)
        wrong += too_much_left(&r);
    wrong += wrong_finite(&r);
    wrong = count_wrong(r.g, wrong);
    ddp_work_close(r.loss_sum);
    close_parts(&r);
    for (int s = 0; s < SUMS; s++)
        close_bucket(&r, s);
    ddp_group_close(r.g);
    return wrong ? 1 : 0;
}
