/* ddp-test: quick */
/* The sizes that random=1 of a cfg of the forks takes turns with, worked out by hand: for 416 and
 * steps of 32 a factor f from 1/1.4 to 1.4 gives round(13*f + 1) steps, 10 (f < 0.731) to 19 (f
 * > 1.346). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net.h"

#include <stdlib.h>

enum { DRAWS = 2000, LAST = 5000 };

static network *parse(const char *random)
{
    char cfg[512];

    (void)snprintf(cfg, sizeof cfg,
                   "[net]\nyolo_math=v4\nwidth=416\nheight=416\nchannels=7\nmax_batches=5000\n"
                   "[maxpool]\nsize=32\nstride=32\n"
                   "[yolo]\nmask=0\nanchors=12,12\nclasses=2\nnum=1\n%s",
                   random);
    return net_parse(cfg);
}

static int size_at(network *net, size_t batch)
{
    int w, h;

    train_draw_size(net, batch, &w, &h);
    assert_int_equal(w, h);
    assert_int_equal(w % 32, 0);
    return w;
}

static void expect_sizes(const char *random, int smallest, int largest)
{
    network *net = parse(random);
    int least = 1 << 20, most = 0;

    srand(3);
    for (int i = 0; i < DRAWS; i++) {
        int size = size_at(net, 10);

        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    assert_int_equal(least, smallest);
    assert_int_equal(most, largest);
    assert_int_equal(size_at(net, 0), largest);
    for (size_t batch = LAST - 99; batch < LAST; batch++)
        assert_int_equal(size_at(net, batch), largest);
    free_network(net);
}

static void sizes_are_those_of_the_forks(void **state)
{
    (void)state;
    expect_sizes("random=1\n", 320, 608);   /* 1.4 */
    expect_sizes("random=1.2\n", 384, 544); /* 13/1.2 + 1 = 11.8, 13*1.2 + 1 = 16.6 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_those_of_the_forks)};

    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
