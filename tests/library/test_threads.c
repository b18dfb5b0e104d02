/* Two networks in four threads: each thread's boxes are those of its network alone. */
#include "tiny.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { THREADS = 4, TURNS = 10 };

struct looking {
    const char *weights;
    double found[TURNS];
};

static void *look(void *ctx)
{
    struct looking *l = ctx;

    for (int i = 0; i < TURNS; i++) {
        darknet_ddp_model *model = tiny_open(l->weights);

        l->found[i] = tiny_look(model);
        darknet_ddp_close(model);
    }
    return NULL;
}

static void each_thread_has_the_boxes_of_its_network(void **state)
{
    struct looking alone[] = {{.weights = "one.weights"}, {.weights = "two.weights"}};
    struct looking together[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    tiny_begin();
    for (int i = 0; i < THREADS; i++) {
        together[i] = alone[i % 2];
        assert_int_equal(pthread_create(&threads[i], NULL, look, &together[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    (void)look(&alone[0]);
    (void)look(&alone[1]);
    assert_true(alone[0].found[0] < alone[1].found[0] || alone[0].found[0] > alone[1].found[0]);
    for (int i = 0; i < THREADS; i++)
        assert_memory_equal(together[i].found, alone[i % 2].found, sizeof alone[0].found);
    tiny_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_has_the_boxes_of_its_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
