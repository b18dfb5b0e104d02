/* Tests of top-k on a GPU, by gpu/compress.h: that the results are those of the host, and those of
 * the definition in topk_net.h. */
#include "algorithms/compression.h"
#include "algorithms/topk/largest.h"
#include "algorithms/topk/tests/topk_net.h"
#include "gpu/compress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ran 0: nothing but the gradient changes. */
static void compare_largest(ddp_device *queue, const float *values, size_t count, double percent,
                            float ran)
{
    ddp_device *d = ddp_device_host();
    ddp_matrix host = {.count = count, .value = percent, .rank = 1, .ranks = 3}, gpu = host;
    size_t numbers = 3 * ddp_top_k_numbers(count, percent);
    float *nothing = compress_room(DDP_LARGEST_SCRATCH, sizeof(float)), *scratch, *more,
          *ran_there = compress_on_device(queue, &ran, 1);

    host.gradient = compress_room(count, sizeof(float));
    memcpy(host.gradient, values, count * sizeof(float));
    gpu.gradient = compress_on_device(queue, values, count);
    host.error = compress_both(queue, &gpu.error, count, 7);
    host.numbers[0] =
        compress_both(queue, &gpu.numbers[0], numbers, 8); /* encode sets this rank's */
    host.stride = gpu.stride = numbers / 3;
    scratch = compress_on_device(queue, nothing, DDP_LARGEST_SCRATCH);
    ddp_largest_encode(d, &host, NULL);
    ddp_largest_encode(queue, &gpu, scratch);
    compress_expect(queue, "what is sent", gpu.numbers[0], host.numbers[0], numbers, 0);
    /* Other ranks send the same, and one a place that is none. Each sends a place once: a GPU adds
     * what one rank sends in no order. */
    more = host.numbers[0] + numbers / 3 * 2;
    memcpy(host.numbers[0], host.numbers[0] + numbers / 3, numbers / 3 * sizeof(float));
    memcpy(more, host.numbers[0] + numbers / 3, numbers / 3 * sizeof(float));
    more[numbers / 3 - 1] = NAN;
    ddp_device_push(queue, gpu.numbers[0], host.numbers[0], numbers);
    ddp_largest_decode(d, &host, &ran);
    ddp_largest_decode(queue, &gpu, ran_there);
    compress_expect(queue, "the sum", gpu.gradient, host.gradient, count, 0);
    compress_expect(queue, "the error", gpu.error, host.error, count, 0);
    ddp_device_free(queue, gpu.gradient);
    ddp_device_free(queue, gpu.error);
    ddp_device_free(queue, gpu.numbers[0]);
    ddp_device_free(queue, scratch);
    free(nothing);
    ddp_device_free(queue, ran_there);
    free(host.gradient);
    free(host.error);
    free(host.numbers[0]);
}

static void compare(ddp_device *queue)
{
    static const size_t counts[] = {1, 2, 255, 4096, 4097, 3 * 4096 + 17, 100003};
    static const double percents[] = {0.001, 1, 37.5, 100};
    const size_t most = DDP_TOP_K_SECTION + 5000;
    float *x = compress_room(most, sizeof *x);

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (size_t j = 0; j < sizeof percents / sizeof percents[0]; j++) {
            compress_fill(x, counts[i], (unsigned)i); /* many equal ones */
            compare_largest(queue, x, counts[i], percents[j], 2);
            for (size_t k = 0; k < counts[i]; k++)
                x[k] *= expf((float)(k * 7919 % 1000) / 20); /* of all magnitudes */
            x[counts[i] / 2] = NAN;
            x[counts[i] / 3] = -INFINITY;
            compare_largest(queue, x, counts[i], percents[j], 2);
            compare_largest(queue, x, counts[i], percents[j], 0);
        }
    compress_fill(x, most, 9);
    x[DDP_TOP_K_SECTION] = 1000;
    compare_largest(queue, x, most, 0.01, 1);
    free(x);
}

int main(int argc, char **argv)
{
    static const struct compress_test test = {
        .net = &compressed_top_k, .ordered = 1, .compare = compare};

    return compress_main(argc, argv, &test);
}
