/* ddp-test: quick */
/* Darknet's update of parameters, against its formulas written out: what is decayed, divided by and
 * remembered. */
#include <darknet.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <blas.h>
#include <cmocka.h>

enum { COUNT = 5, UPDATES = 3, BATCH = 4 };

static const float rate = 0.125F, decay = 0.0625F, keep = 0.75F;

static float gradient(int step, int i)
{
    return (float)(step - 1) + (float)i / 4;
}

/* Few binary digits, so that no order of the additions rounds. */
static void sgd_decays_once_and_divides_by_the_batch(void **state)
{
    float w[COUNT], want_w[COUNT], momentum[COUNT] = {0}, want_momentum[COUNT] = {0}, g[COUNT];
    update_args a = {.batch = BATCH, .momentum = keep};

    (void)state;
    for (int i = 0; i < COUNT; i++)
        w[i] = want_w[i] = (float)(i - 2);
    for (int step = 0; step < UPDATES; step++) {
        for (int i = 0; i < COUNT; i++) {
            float update = want_momentum[i] + gradient(step, i) - decay * BATCH * want_w[i];

            g[i] = gradient(step, i);
            want_w[i] += rate / BATCH * update;
            want_momentum[i] = keep * update;
        }
        optimize_cpu(COUNT, w, g, momentum, NULL, NULL, rate, decay, a);
        for (int i = 0; i < COUNT; i++) {
            assert_float_equal(w[i], want_w[i], 1e-6);
            assert_float_equal(momentum[i], want_momentum[i], 1e-6);
            assert_float_equal(g[i], 0, 0);
        }
    }
}

static void adam_decays_once_and_corrects_its_moments(void **state)
{
    const float b1 = 0.9F, b2 = 0.999F, eps = 1e-4F;
    float w[COUNT], want_w[COUNT], m[COUNT] = {0}, v[COUNT] = {0}, g[COUNT];
    float want_m[COUNT] = {0}, want_v[COUNT] = {0};
    update_args a = {.batch = BATCH, .adam = 1, .B1 = b1, .B2 = b2, .eps = eps};

    (void)state;
    for (int i = 0; i < COUNT; i++)
        w[i] = want_w[i] = (float)(i - 2);
    for (int step = 0; step < UPDATES; step++) {
        a.t = step + 1;
        for (int i = 0; i < COUNT; i++) {
            float update = gradient(step, i) - decay * BATCH * want_w[i];

            g[i] = gradient(step, i);
            want_m[i] = b1 * want_m[i] + (1 - b1) * update;
            want_v[i] = b2 * want_v[i] + (1 - b2) * update * update;
            want_w[i] += rate * want_m[i] / (1 - powf(b1, (float)a.t))
                         / (sqrtf(want_v[i] / (1 - powf(b2, (float)a.t))) + eps);
        }
        optimize_cpu(COUNT, w, g, NULL, m, v, rate, decay, a);
        for (int i = 0; i < COUNT; i++) {
            assert_float_equal(w[i], want_w[i], 1e-4);
            assert_float_equal(m[i], want_m[i], 1e-5);
            assert_float_equal(v[i], want_v[i], 1e-5);
            assert_float_equal(g[i], 0, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_decays_once_and_divides_by_the_batch),
        cmocka_unit_test(adam_decays_once_and_corrects_its_moments),
    };

    return cmocka_run_group_tests_name("optimize", tests, NULL, NULL);
}
