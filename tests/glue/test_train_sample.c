/* ddp-test: quick */
/* The samples of a rank's mini-batches: all ranks' together are the batch's, each once. */
#include <darknet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { IMAGES = 2, SUBDIVISIONS = 12, BATCH = IMAGES * SUBDIVISIONS, FIRST = 3 * BATCH };

/* Mark the samples with which rank `rank` of `world` trains in the batch that begins at FIRST. */
static void mark_samples(int rank, int world, int marks[BATCH])
{
    size_t seen = FIRST;
    network net = {
        .batch = IMAGES, .subdivisions = SUBDIVISIONS, .rank = rank, .world = world, .seen = &seen};

    while (seen < FIRST + BATCH) {
        size_t first = train_sample(&net);

        for (size_t i = first; i < first + IMAGES; i++) {
            assert_in_range(i, FIRST, FIRST + BATCH - 1);
            marks[i - FIRST]++;
        }
        seen += (size_t)IMAGES * (size_t)world;
    }
}

static void ranks_share_a_batch_out_evenly(void **state)
{
    (void)state;
    for (int world = 1; world <= 4; world++) {
        int marks[BATCH] = {0};

        for (int rank = 0; rank < world; rank++)
            mark_samples(rank, world, marks);
        for (int i = 0; i < BATCH; i++)
            assert_int_equal(marks[i], 1);
    }
}

static void a_rank_has_one_part_of_the_batch(void **state)
{
    int marks[BATCH] = {0};

    (void)state;
    mark_samples(1, 3, marks);
    for (int i = 0; i < BATCH; i++)
        assert_int_equal(marks[i], i >= BATCH / 3 && i < 2 * BATCH / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_share_a_batch_out_evenly),
        cmocka_unit_test(a_rank_has_one_part_of_the_batch),
    };

    return cmocka_run_group_tests_name("train_sample", tests, NULL, NULL);
}
