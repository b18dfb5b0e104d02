#include "compress.h"

#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "must.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *compress_room(size_t count, size_t bytes)
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

float *compress_on_device(ddp_device *d, const float *host, size_t count)
{
    ddp_error err;
    float *x;

    must(ddp_device_alloc(d, &x, count, &err), &err);
    ddp_device_push(d, x, host, count);
    return x;
}

void compress_expect(ddp_device *d, const char *what, const float *got_there, const float *want,
                     size_t count, double tolerance)
{
    float *got = compress_room(count, sizeof *got);

    ddp_device_pull(d, got, got_there, count);
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&got[i], &want[i], sizeof *got) == 0
            || (isnan(got[i]) && isnan(want[i])) /* a GPU's has other bits */
            || fabs((double)got[i] - (double)want[i]) < tolerance)
            continue;
        (void)fprintf(stderr, "%s [%zu] is %.9g, not %.9g\n", what, i, (double)got[i],
                      (double)want[i]);
        wrong++;
        break;
    }
    free(got);
}

void compress_fill(float *x, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = (float)((int)(seed >> 16) % 19 - 9);
    }
}

float *compress_both(ddp_device *d, float **there, size_t count, unsigned seed)
{
    float *host = compress_room(count, sizeof *host);

    compress_fill(host, count, seed);
    *there = compress_on_device(d, host, count);
    return host;
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
    float *first = compress_room(COMPRESSED_RESULTS, sizeof *first);
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
    struct compressed_model *model = compress_room(1, sizeof *model);
    float *results[2] = {compress_room(COMPRESSED_RESULTS, sizeof(float)),
                         compress_room(COMPRESSED_RESULTS, sizeof(float))};

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
    uint64_t sum = me->wrong[0] != '\0';
    ddp_error err;

    if (sum)
        (void)fprintf(stderr, "rank %d: %s\n", me->rank, me->wrong);
    must(ddp_sum_counts(me->group, &sum, 1, &err), &err);
    return (int)sum;
}

static int compare_with_host(ddp_device *d, const struct compress_test *test)
{
    ddp_device *queue;
    ddp_error err;

    must(ddp_device_queue_open(&queue, d, &err), &err);
    test->compare(queue);
    ddp_device_queue_close(queue);
    return wrong;
}

int compress_main(int argc, char **argv, const struct compress_test *test)
{
    int alone = argc == 2 && strcmp(argv[1], "host") == 0;
    int nccl = argc == 2 && strcmp(argv[1], "nccl") == 0, failed;
    struct rank me = {0};
    ddp_error err;

    if (argc != 2)
        return 2;
    if (ddp_device_count() == 0)
        return 77;
    must(ddp_group_open(&me.group, alone ? "solo" : "mpi", &err), &err);
    use_gpu(me.group, nccl);
    me.rank = ddp_group_rank(me.group);
    me.size = ddp_group_size(me.group);
    if (alone) {
        failed = compare_with_host(ddp_group_device(me.group), test);
    } else {
        train(&me, ddp_group_device(me.group), test->net, test->ordered || !nccl);
        failed = count_wrong(&me);
    }
    if (me.rank == 0)
        printf("%d rank%s, %s, transport %s\n", me.size, me.size == 1 ? "" : "s",
               ddp_device_name(ddp_group_device(me.group)), ddp_group_transport(me.group));
    ddp_group_close(me.group);
    return failed ? 1 : 0;
}
