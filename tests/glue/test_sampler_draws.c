/* ddp-test: quick */
/* Darknet's draws: the same on every thread, each thread's its own. */
#include "samples/sampler.h"

#include "base/random.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { DRAWS = 1000, THREADS = 4 };

static void draw_all(unsigned *out)
{
    for (int i = 0; i < DRAWS; i++)
        out[i] = ddp_draw();
}

/* The draws for (2, 3, 4), drawn on a thread of its own. */
static void *draw_on_thread(void *out)
{
    ddp_draw_for(2, 3, 4);
    draw_all(out);
    return NULL;
}

static void draws_are_the_seeds_and_the_purposes(void **state)
{
    unsigned first[DRAWS];
    unsigned other[DRAWS];
    ddp_random r;

    (void)state;
    ddp_sampler_seed(77);
    ddp_draw_for(2, 3, 4);
    draw_all(first);
    ddp_random_init(&r, 77, ddp_random_topic(2, 3), 4);
    for (int i = 0; i < DRAWS; i++)
        assert_int_equal(first[i], ddp_random_next(&r));
    ddp_draw_for(2, 3, 5);
    draw_all(other);
    assert_memory_not_equal(first, other, sizeof first);
    ddp_draw_for(2, 3, 4);
    draw_all(other);
    assert_memory_equal(first, other, sizeof first);
    ddp_sampler_seed(78);
    ddp_draw_for(2, 3, 4);
    draw_all(other);
    assert_memory_not_equal(first, other, sizeof first);
}

static void threads_do_not_disturb_each_other(void **state)
{
    static unsigned drawn[THREADS][DRAWS];
    unsigned here[DRAWS];
    pthread_t threads[THREADS];

    (void)state;
    ddp_sampler_seed(77);
    ddp_draw_for(2, 3, 4);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw_on_thread, drawn[i]), 0);
    draw_all(here);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_memory_equal(drawn[i], here, sizeof here);
    }
}

static void draws_without_a_purpose_have_the_seed_too(void **state)
{
    unsigned a;

    (void)state;
    ddp_sampler_seed(5);
    a = ddp_draw();
    ddp_sampler_seed(6);
    assert_int_not_equal(ddp_draw(), a);
    ddp_sampler_seed(5);
    assert_int_equal(ddp_draw(), a);
    assert_int_not_equal(ddp_draw(), a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_the_seeds_and_the_purposes),
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(draws_without_a_purpose_have_the_seed_too),
    };

    return cmocka_run_group_tests_name("draws", tests, NULL, NULL);
}
