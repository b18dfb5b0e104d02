/* ddp-test: quick tsan */
/* Tests of sign-SGD (signsgd.c) on 2 to 4 ranks: it computes what its definition, written here in
 * double, gives, and a dropped step changes nothing. */
#include "unit/compressed_checks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static void define_rank(struct compressed_model *m, const struct compressed_net *net, int rank,
                        int step, size_t p)
{
    size_t count = compressed_count(net, p);
    double scale = 0;

    for (size_t i = 0; i < count; i++)
        scale += fabs(compressed_m(m, net, rank, step, p, i)) / (double)count;
    for (size_t i = 0; i < count; i++) {
        double x = compressed_m(m, net, rank, step, p, i), told = x < 0 ? -scale : scale;

        m->sum[p][i] += told;
        m->error[rank][p][i] = x - told;
    }
}

static void define_signs(struct compressed_model *m, const struct compressed_net *net, int step,
                         size_t p)
{
    for (int rank = 0; rank < m->size; rank++)
        define_rank(m, net, rank, step, p);
}

static const struct compressed_net net = {
    .options = {.compress = {DDP_COMPRESS_signsgd, 0}},
    .layers = 4,
    .params = 4,
    .shapes = {{0, 24, 90, 1}, {1, 40, 100, 1}, {2, 17, 15, 1}, {3, 1, 24, 0}},
    .unused = 1,
    .whole = 1,
    .tolerance = 1e-3,
    .define = define_signs,
};

static void it_is_its_definition(void **state)
{
    (void)state;
    compressed_is_its_definition(&net);
}

static void steps_that_are_dropped_leave_nothing(void **state)
{
    (void)state;
    compressed_drops_leave_nothing(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_its_definition),
        cmocka_unit_test(steps_that_are_dropped_leave_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
