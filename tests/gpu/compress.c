/* Compression on a GPU: of one parameter against the host, and of a network on real ranks against
 * its definition (../unit/compressed.h).
 * Usage: compress host                       what a device computes, against what the host does
 *        compress nccl|mpi powersgd|topk     on the ranks of an mpirun, 4 at most
 *
 * Steps are queued as in training: nothing waits for the GPU between a pass and its sums, so that a
 * missing order between its queues shows in the values.
 *
 * Exit status: 77 without a GPU. Ranks fail together. */
#include "algorithms/powersgd/low_rank.h"
#include "algorithms/powersgd/tests/powersgd_net.h"
#include "algorithms/topk/largest.h"
#include "algorithms/topk/tests/topk_net.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "must.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t count, size_t bytes)
{
    void *x = calloc(count + 1, bytes);

    if (!x)
        abort();
    return x;
}

/* ---- what a rank notes (../unit/ranks.h), here where ranks are processes ---- */

void rank_wrong(struct rank *me, const char *fmt, ...)
{
    va_list arguments;

    if (me->wrong[0])
        return;
    va_start(arguments, fmt);
    (void)vsnprintf(me->wrong, sizeof me->wrong, fmt, arguments);
    va_end(arguments);
}

void rank_expect_ok(struct rank *me, ddp_status st, const ddp_error *err)
{
    if (st)
        rank_wrong(me, "%s", err->text);
}

void rank_meet(struct rank *me)
{
    (void)me; /* each has a group of its own to close */
}

/* ---- one parameter ---- */

static int wrong;

static float *on_device(ddp_device *d, const float *host, size_t count)
{
    ddp_error err;
    float *x;

    must(ddp_device_alloc(d, &x, count, &err), &err);
    ddp_device_push(d, x, host, count);
    return x;
}

/* tolerance 0: the same bits. */
static void expect(ddp_device *d, const char *what, const float *got_there, const float *want,
                   size_t count, double tolerance)
{
    float *got = room(count, sizeof *got);

    ddp_device_pull(d, got, got_there, count);
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&got[i], &want[i], sizeof *got) == 0
            || fabs((double)got[i] - (double)want[i]) < tolerance)
            continue;
        (void)fprintf(stderr, "%s [%zu] is %.9g, not %.9g\n", what, i, (double)got[i],
                      (double)want[i]);
        wrong++;
        break;
    }
    free(got);
}

/* Whole numbers: products and their sums are exact in any order, up to 2^24. */
static void fill(float *x, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = (float)((int)(seed >> 16) % 19 - 9);
    }
}

/* Of the host and of the device. */
struct pair {
    ddp_low_rank host, gpu;
    float *ran_host, *ran;
};

static float *both(ddp_device *d, float **there, size_t count, unsigned seed)
{
    float *host = room(count, sizeof *host);

    fill(host, count, seed);
    *there = on_device(d, host, count);
    return host;
}

static void open_pair(struct pair *x, ddp_device *d, ddp_shape s, float ran)
{
    float *drawn;

    *x = (struct pair){.host.shape = s, .gpu.shape = s};
    x->host.m = both(d, &x->gpu.m, s.rows * s.columns, 1);
    x->host.error = both(d, &x->gpu.error, s.rows * s.columns, 2);
    x->host.q = both(d, &x->gpu.q, s.columns * s.rank, 3);
    x->host.drawn = both(d, &drawn, s.columns * s.rank, 4);
    x->gpu.drawn = drawn;
    x->host.p = both(d, &x->gpu.p, s.rows * s.rank, 5);
    x->host.q_sum = both(d, &x->gpu.q_sum, s.columns * s.rank, 6);
    x->ran_host = room(1, sizeof(float));
    *x->ran_host = ran;
    x->ran = on_device(d, x->ran_host, 1);
}

static void close_pair(struct pair *x, ddp_device *d)
{
    float *const there[] = {x->gpu.m, x->gpu.error, x->gpu.q, (float *)x->gpu.drawn,
                            x->gpu.p, x->gpu.q_sum, x->ran};
    float *const here[] = {x->host.m, x->host.error, x->host.q,  (float *)x->host.drawn,
                           x->host.p, x->host.q_sum, x->ran_host};

    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
        ddp_device_free(d, there[i]);
        free(here[i]);
    }
}

/* Columns of Q's sum: the second is the first again, and so lost. */
static void lose_a_column(struct pair *x, ddp_device *d)
{
    size_t columns = x->host.shape.columns;

    if (x->host.shape.rank < 2)
        return;
    memcpy(x->host.q_sum + columns, x->host.q_sum, columns * sizeof(float));
    ddp_device_push(d, x->gpu.q_sum + columns, x->host.q_sum, columns);
}

static void compare_low_rank(ddp_device *queue, ddp_shape s, float ran)
{
    ddp_device *host = ddp_device_host();
    size_t count = s.rows * s.columns;
    struct pair x;

    open_pair(&x, queue, s, ran);
    ddp_low_rank_encode(host, &x.host);
    ddp_low_rank_encode(queue, &x.gpu);
    expect(queue, "M", x.gpu.m, x.host.m, count, 0);
    expect(queue, "P", x.gpu.p, x.host.p, s.rows * s.rank, 0);
    ddp_low_rank_go_on(host, &x.host);
    ddp_low_rank_go_on(queue, &x.gpu);
    expect(queue, "orthonormal P", x.gpu.p, x.host.p, s.rows * s.rank, 1e-6);
    expect(queue, "Q", x.gpu.q_sum, x.host.q_sum, s.columns * s.rank, 1e-3);
    ddp_device_push(queue, x.gpu.p, x.host.p, s.rows * s.rank);
    ddp_device_push(queue, x.gpu.q_sum, x.host.q_sum, s.columns * s.rank);
    lose_a_column(&x, queue);
    ddp_low_rank_decode(host, &x.host, x.ran_host, 0.5F);
    ddp_low_rank_decode(queue, &x.gpu, x.ran, 0.5F);
    expect(queue, "the sum", x.gpu.m, x.host.m, count, 0); /* ranks must have the same bits */
    expect(queue, "the error", x.gpu.error, x.host.error, count, 0);
    ddp_low_rank_renew(host, &x.host, x.ran_host);
    ddp_low_rank_renew(queue, &x.gpu, x.ran);
    expect(queue, "the next Q", x.gpu.q, x.host.q, s.columns * s.rank, 1e-6);
    close_pair(&x, queue);
}

/* ran 0: nothing but the gradient changes. */
static void compare_largest(ddp_device *queue, const float *values, size_t count, double percent,
                            float ran)
{
    ddp_device *d = ddp_device_host();
    ddp_largest host = {.count = count, .percent = percent, .rank = 1, .ranks = 3}, gpu = host;
    size_t told = 3 * ddp_top_k_numbers(count, percent);
    float *nothing = room(DDP_LARGEST_SCRATCH, sizeof(float)), *more,
          *ran_there = on_device(queue, &ran, 1);

    host.m = room(count, sizeof(float));
    memcpy(host.m, values, count * sizeof(float));
    gpu.m = on_device(queue, values, count);
    host.error = both(queue, &gpu.error, count, 7);
    host.told = both(queue, &gpu.told, told, 8); /* encode sets this rank's */
    host.stride = gpu.stride = told / 3;
    gpu.scratch = on_device(queue, nothing, DDP_LARGEST_SCRATCH);
    ddp_largest_encode(d, &host);
    ddp_largest_encode(queue, &gpu);
    expect(queue, "what is told", gpu.told, host.told, told, 0);
    more = host.told + told / 3 * 2; /* another rank tells the same, and a place that is none */
    memcpy(more, host.told + told / 3, told / 3 * sizeof(float));
    more[told / 3 - 1] = NAN;
    ddp_device_push(queue, gpu.told, host.told, told);
    ddp_largest_decode(d, &host, &ran);
    ddp_largest_decode(queue, &gpu, ran_there);
    expect(queue, "the sum", gpu.m, host.m, count, 0);
    expect(queue, "the error", gpu.error, host.error, count, 0);
    ddp_device_free(queue, gpu.m);
    ddp_device_free(queue, gpu.error);
    ddp_device_free(queue, gpu.told);
    ddp_device_free(queue, gpu.scratch);
    free(nothing);
    ddp_device_free(queue, ran_there);
    free(host.m);
    free(host.error);
    free(host.told);
}

static void compare_largest_of_any(ddp_device *queue)
{
    static const size_t counts[] = {1, 2, 255, 4096, 4097, 3 * 4096 + 17, 100003};
    static const double percents[] = {0.001, 1, 37.5, 100};
    const size_t most = DDP_TOP_K_SECTION + 5000;
    float *x = room(most, sizeof *x);

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (size_t j = 0; j < sizeof percents / sizeof percents[0]; j++) {
            fill(x, counts[i], (unsigned)i); /* many equal ones */
            compare_largest(queue, x, counts[i], percents[j], 2);
            for (size_t k = 0; k < counts[i]; k++)
                x[k] *= expf((float)(k * 7919 % 1000) / 20); /* of all magnitudes */
            x[counts[i] / 2] = NAN;
            x[counts[i] / 3] = -INFINITY;
            compare_largest(queue, x, counts[i], percents[j], 2);
            compare_largest(queue, x, counts[i], percents[j], 0);
        }
    fill(x, most, 9);
    x[DDP_TOP_K_SECTION] = 1000;
    compare_largest(queue, x, most, 0.01, 1);
    free(x);
}

static int compare_with_host(ddp_device *d)
{
    static const ddp_shape shapes[] = {{2, 3, 1},    {24, 90, 2},  {1, 700, 1},  {700, 2, 2},
                                       {33, 129, 4}, {64, 64, 17}, {5, 1200, 8}, {600, 31, 9}};
    ddp_device *queue;
    ddp_error err;

    must(ddp_device_queue_open(&queue, d, &err), &err);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int ran = 0; ran < 3; ran += 2)
            compare_low_rank(queue, shapes[i], (float)ran);
    compare_largest_of_any(queue);
    ddp_device_queue_close(queue);
    return wrong;
}

/* ---- a network ---- */

static void use_gpu(ddp_group *g, int nccl)
{
    int gpus = ddp_device_count();
    ddp_gpu_config config = {.gpu = ddp_group_local_rank(g) % gpus,
                             .shared = ddp_group_local_size(g) > gpus,
                             .nccl = nccl,
                             .ctas = 4,
                             .fail = fail};
    ddp_error err;

    must(ddp_group_use_gpu(g, &config, &err), &err);
}

/* Gradients and Q are rank 0's, bit for bit. */
static void expect_alike(struct rank *me, const float *results)
{
    size_t bytes = COMPRESSED_RESULTS / COMPRESSED_KINDS * sizeof(float);
    float *first = room(COMPRESSED_RESULTS, sizeof *first);
    ddp_error err;

    for (int kind = 0; kind < COMPRESSED_KINDS; kind += 2) {
        memcpy(first, results + compressed_result(kind, 0), bytes);
        must(ddp_broadcast(me->group, first, bytes, 0, &err), &err);
        if (memcmp(first, results + compressed_result(kind, 0), bytes) != 0)
            rank_wrong(me, "%s differ from rank 0's", kind == 0 ? "gradients" : "Q");
    }
    free(first);
}

/* Whatever the buckets: where sums have one order, too. */
static void train(struct rank *me, ddp_device *d, const struct compressed_net *net, int ordered)
{
    struct compressed_model *model = room(1, sizeof *model);
    float *results[2] = {room(COMPRESSED_RESULTS, sizeof(float)),
                         room(COMPRESSED_RESULTS, sizeof(float))};

    for (int c = 0; c < COMPRESSED_CONFIGS; c++) {
        compressed_take_steps(me, net, d, &compressed_configs[c], c % 2, model, results[c > 0]);
        expect_alike(me, results[c > 0]);
        if (ordered && memcmp(results[c > 0], results[0], COMPRESSED_RESULTS * sizeof(float)) != 0)
            rank_wrong(me, "with other buckets something else");
    }
    free(model);
    free(results[0]);
    free(results[1]);
}

/* How many ranks saw something wrong. */
static int count_wrong(struct rank *me)
{
    int here = me->wrong[0] != '\0', sum = 0, all[COMPRESSED_RANKS];
    ddp_error err;

    if (here)
        (void)fprintf(stderr, "rank %d: %s\n", me->rank, me->wrong);
    must(ddp_allgather(me->group, &here, all, sizeof here, &err), &err);
    for (int r = 0; r < me->size; r++)
        sum += all[r];
    return sum;
}

int main(int argc, char **argv)
{
    int alone = argc == 2 && strcmp(argv[1], "host") == 0;
    int nccl = argc == 3 && strcmp(argv[1], "nccl") == 0, failed;
    int powersgd = argc == 3 && strcmp(argv[2], "powersgd") == 0;
    struct rank me = {0};
    ddp_error err;

    if (!alone && argc != 3)
        return 2;
    if (ddp_device_count() == 0)
        return 77;
    must(ddp_group_open(&me.group, alone ? "solo" : "mpi", &err), &err);
    use_gpu(me.group, nccl);
    me.rank = ddp_group_rank(me.group);
    me.size = ddp_group_size(me.group);
    if (alone)
        failed = compare_with_host(ddp_group_device(me.group));
    else
        train(&me, ddp_group_device(me.group), powersgd ? &compressed_powersgd : &compressed_top_k,
              !nccl || !powersgd);
    failed = alone ? failed : count_wrong(&me);
    if (me.rank == 0)
        printf("%d rank%s, %s, transport %s\n", me.size, me.size == 1 ? "" : "s",
               ddp_device_name(ddp_group_device(me.group)), ddp_group_transport(me.group));
    ddp_group_close(me.group);
    return failed ? 1 : 0;
}
