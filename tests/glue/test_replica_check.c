/* ddp-test: quick */
/* A bit that flips in one rank's parameters or statistics, in mid-run, is found, and every rank
 * names it. Ranks are threads, each with a network of its own. */
#include "trainer/trainer.h"

#include "../unit/ranks.h"
#include "timing/synthetic.h"

#include <darknet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "net.h"

enum { RANKS = 4, LAST_STEP = 9, FLIP_BEFORE = 5, EVERY = 2, FOUND = 6, MINI_BATCHES = 2 };

static const char cfg[] = "[net]\nbatch=16\nsubdivisions=8\nwidth=8\nheight=8\nchannels=3\n"
                          "learning_rate=0.01\nmomentum=0.9\nmax_batches=100\n"
                          "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=1\npad=1\n"
                          "activation=leaky\n[avgpool]\n[connected]\noutput=5\n[softmax]\n";

struct training {
    network *nets[RANKS];
    int exact, flipped; /* flipped: the rank, or -1 */
    float *(*place)(network *net);
    char said[RANKS][512]; /* with what each rank's hooks failed */
    int steps[RANKS];      /* whole ones */
};

/* The error of the rank whose thread this is. */
static _Thread_local char *said;

static void fail_hook(const ddp_error *err) __attribute__((noreturn));

static void fail_hook(const ddp_error *err)
{
    (void)snprintf(said, sizeof((struct training *)0)->said[0], "%s", err->text);
    pthread_exit(NULL);
}

static ddp_trainer *attach(struct rank *me)
{
    const struct training *training = me->shared;
    ddp_trainer_config config = {
        .reducer = {.bucket_bytes = 1 << 20,
                    .first_bucket_bytes = 1 << 20,
                    .defer_bytes = 1 << 20,
                    .overlap = 1,
                    .find_unused = 1},
        .broadcast_buffers = 1,
        .exact = training->exact,
        .sync_every = 1,
        .verify_every = EVERY,
        .fail = fail_hook,
    };
    int batch = 16, subdivisions = 8;
    ddp_trainer *t;
    ddp_error err;

    rank_expect_ok(me, ddp_trainer_open(&t, me->group, &config, &err), &err);
    rank_expect_ok(me, ddp_trainer_split(t, &batch, &subdivisions, &err), &err);
    rank_expect_ok(me, ddp_trainer_attach(t, training->nets[me->rank], &err), &err);
    return t;
}

static void flip(float *x)
{
    uint32_t bits;

    memcpy(&bits, x, sizeof bits);
    bits ^= 1;
    memcpy(x, &bits, sizeof bits);
}

static void train(struct rank *me)
{
    struct training *training = me->shared;
    network *net = training->nets[me->rank];
    ddp_trainer *t = attach(me);

    said = training->said[me->rank];
    for (int number = 1; number <= LAST_STEP; number++) {
        float sum = 0;

        if (number == FLIP_BEFORE && me->rank == training->flipped) {
            ddp_trainer_flush(t);
            flip(training->place(net));
        }
        for (int m = 0; m < MINI_BATCHES; m++) {
            ddp_synthetic_fill(net, (uint64_t)number, (uint64_t)(4 * me->rank + 2 * m));
            sum += train_network_datum(net);
        }
        (void)train_mean_loss(net, sum);
        training->steps[me->rank] = number;
    }
    ddp_trainer_close(t);
}

static void run(struct training *training)
{
    for (int r = 0; r < RANKS; r++)
        training->nets[r] = net_parse(cfg);
    ranks_run(RANKS, train, training);
    for (int r = 0; r < RANKS; r++)
        free_network(training->nets[r]);
}

static float *weight(network *net)
{
    return &net->layers[2].weights[7];
}

static void check_found(const struct training *training, const char *array, const char *sides)
{
    char begin[128];

    (void)snprintf(begin, sizeof begin, "step %d: %s", FOUND, array);
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(training->steps[r], FOUND - 1);
        assert_string_equal(training->said[r], training->said[0]);
    }
    if (strncmp(training->said[0], begin, strlen(begin)) != 0 || !strstr(training->said[0], sides)
        || !strstr(training->said[0], "after step 4 they were still the same"))
        fail_msg("%s", training->said[0]);
}

static void without_a_flip_nothing_is_said(void **state)
{
    (void)state;
    for (int exact = 0; exact <= 1; exact++) {
        struct training training = {.exact = exact, .flipped = -1};

        run(&training);
        for (int r = 0; r < RANKS; r++) {
            assert_string_equal(training.said[r], "");
            assert_int_equal(training.steps[r], LAST_STEP);
        }
    }
}

static void the_last_bit_of_a_weight_is_found(void **state)
{
    (void)state;
    for (int exact = 0; exact <= 1; exact++) {
        struct training of_2 = {.exact = exact, .flipped = 2, .place = weight};
        struct training of_0 = {.exact = exact, .flipped = 0, .place = weight};

        run(&of_2);
        check_found(&of_2, "layer 2 (connected) weights", "of rank 2 on ");
        assert_non_null(strstr(of_2.said[0], " of ranks 0, 1, 3 on "));
        run(&of_0);
        check_found(&of_0, "layer 2 (connected) weights", "of ranks 1, 2, 3 on ");
        assert_non_null(strstr(of_0.said[0], " of rank 0 on "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_flip_nothing_is_said),
        cmocka_unit_test(the_last_bit_of_a_weight_is_found),
    };

    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
