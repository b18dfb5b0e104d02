/* Tests of PowerSGD on a GPU, by gpu/compress.h: that the results are those of the host, and those
 * of the definition in powersgd_net.h. */
#include "algorithms/powersgd/low_rank.h"
#include "algorithms/powersgd/tests/powersgd_net.h"
#include "gpu/compress.h"

#include <stdlib.h>
#include <string.h>

/* One matrix twice: on the host and on the device. */
struct pair {
    ddp_low_rank host, gpu;
    float *ran_host, *ran;
};

static void open_pair(struct pair *x, ddp_device *d, ddp_shape s, float ran)
{
    float *drawn;

    *x = (struct pair){.host.shape = s, .gpu.shape = s};
    x->host.m = compress_both(d, &x->gpu.m, s.rows * s.columns, 1);
    x->host.error = compress_both(d, &x->gpu.error, s.rows * s.columns, 2);
    x->host.q = compress_both(d, &x->gpu.q, s.columns * s.rank, 3);
    x->host.drawn = compress_both(d, &drawn, s.columns * s.rank, 4);
    x->gpu.drawn = drawn;
    x->host.p = compress_both(d, &x->gpu.p, s.rows * s.rank, 5);
    x->host.q_sum = compress_both(d, &x->gpu.q_sum, s.columns * s.rank, 6);
    x->ran_host = compress_room(1, sizeof(float));
    *x->ran_host = ran;
    x->ran = compress_on_device(d, x->ran_host, 1);
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
    ddp_low_rank_compute_p(host, &x.host);
    ddp_low_rank_compute_p(queue, &x.gpu);
    compress_expect(queue, "M", x.gpu.m, x.host.m, count, 0);
    compress_expect(queue, "P", x.gpu.p, x.host.p, s.rows * s.rank, 0);
    ddp_low_rank_compute_q(host, &x.host);
    ddp_low_rank_compute_q(queue, &x.gpu);
    compress_expect(queue, "orthonormal P", x.gpu.p, x.host.p, s.rows * s.rank, 1e-6);
    compress_expect(queue, "Q", x.gpu.q_sum, x.host.q_sum, s.columns * s.rank, 1e-3);
    ddp_device_push(queue, x.gpu.p, x.host.p, s.rows * s.rank);
    ddp_device_push(queue, x.gpu.q_sum, x.host.q_sum, s.columns * s.rank);
    lose_a_column(&x, queue);
    ddp_low_rank_decode(host, &x.host, x.ran_host, 0.5F);
    ddp_low_rank_decode(queue, &x.gpu, x.ran, 0.5F);
    compress_expect(queue, "the sum", x.gpu.m, x.host.m, count,
                    0); /* ranks must have the same bits */
    compress_expect(queue, "the error", x.gpu.error, x.host.error, count, 0);
    ddp_low_rank_renew_q(host, &x.host, x.ran_host);
    ddp_low_rank_renew_q(queue, &x.gpu, x.ran);
    compress_expect(queue, "the next Q", x.gpu.q, x.host.q, s.columns * s.rank, 1e-6);
    close_pair(&x, queue);
}

static void compare(ddp_device *queue)
{
    static const ddp_shape shapes[] = {{2, 3, 1},    {24, 90, 2},  {1, 700, 1},  {700, 2, 2},
                                       {33, 129, 4}, {64, 64, 17}, {5, 1200, 8}, {600, 31, 9}};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int ran = 0; ran < 3; ran += 2)
            compare_low_rank(queue, shapes[i], (float)ran);
}

int main(int argc, char **argv)
{
    static const struct compress_test test = {.net = &compressed_powersgd, .compare = compare};

    return compress_main(argc, argv, &test);
}
