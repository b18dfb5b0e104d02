/* What is worth a trial, what a trial says, and the file that keeps it. */
#include "bench/tune.h"

#include "cli/tune_file.h"
#include "folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { LAYERS = 24, MOST = 1 + DDP_TUNE_TRIED };

/* A network whose layers have so many values each, the last `heavy` ones four times as many. */
struct model {
    ddp_param params[LAYERS];
    ddp_table table;
    ddp_layer_times times[LAYERS];
    ddp_profile profile;
    ddp_tune_config config;
};

static void model(struct model *m, size_t count, int heavy, double layer_s, double gbit)
{
    m->table = (ddp_table){.layer_count = LAYERS, .param_count = LAYERS, .params = m->params};
    m->profile = (ddp_profile){.layers = LAYERS, .images = 1, .times = m->times};
    for (int i = 0; i < LAYERS; i++) {
        m->params[i] = (ddp_param){.layer = i, .count = i >= LAYERS - heavy ? 4 * count : count};
        m->times[i] = (ddp_layer_times){layer_s, layer_s, layer_s, layer_s / 8};
    }
    m->config = (ddp_tune_config){
        .predict = {.profile = &m->profile,
                    .overlap = 1,
                    .mini_batches = 1,
                    .scale = 1,
                    .ranks = 2,
                    .hosts = 2,
                    .bytes_s = gbit * 1e9 / 8,
                    .value_bytes = 4},
        .table = &m->table,
        .as_is = {.bucket_mb = 4, .first_bucket_mb = 1, .defer_mb = 32, .priority = 1}};
}

static double step_of(const struct model *m, const ddp_tuning *t)
{
    ddp_predict_config p = m->config.predict;
    ddp_prediction out;
    ddp_plan *plan;
    ddp_error err;

    assert_int_equal(ddp_plan_open(&plan, &m->table, (size_t)(t->bucket_mb * (1 << 20)),
                                   (size_t)(t->first_bucket_mb * (1 << 20)), &err),
                     DDP_OK);
    p.plan = plan;
    p.order = ddp_launch_order_of(plan, (size_t)(t->defer_mb * (1 << 20)));
    p.priority = t->priority;
    assert_int_equal(ddp_predict(&out, &p, &err), DDP_OK);
    ddp_plan_close(plan);
    return out.step;
}

static size_t candidates(const struct model *m, ddp_tuning *tried)
{
    size_t count;
    ddp_error err;

    assert_int_equal(ddp_tune_candidates(tried, &count, &m->config, &err), DDP_OK);
    assert_true(count <= DDP_TUNE_TRIED);
    return count;
}

static void what_is_tried_is_predicted_to_be_faster_and_the_best_comes_first(void **state)
{
    size_t found = 0;

    (void)state;
    for (int heavy = 0; heavy <= 8; heavy += 4)
        for (double gbit = .25; gbit < 16; gbit *= 2) {
            struct model m;
            ddp_tuning tried[DDP_TUNE_TRIED];
            double before = 0;
            size_t count;

            model(&m, 1000000, heavy, .01, gbit);
            count = candidates(&m, tried);
            found += count;
            for (size_t i = 0; i < count; i++) {
                double step = step_of(&m, &tried[i]);

                if (step > .99 * step_of(&m, &m.config.as_is) || step <= before)
                    fail_msg("%g Gbit/s: candidate %zu takes %g s, the one before %g, and %g as "
                             "it is",
                             gbit, i, step, before, step_of(&m, &m.config.as_is));
                before = step;
            }
        }
    assert_true(found > 0);
}

static void nothing_is_tried_where_messages_cost_nothing(void **state)
{
    struct model m;
    ddp_tuning tried[DDP_TUNE_TRIED];

    (void)state;
    model(&m, 1000, 0, .01, 100);
    assert_int_equal(candidates(&m, tried), 0);
}

static void what_is_given_stays(void **state)
{
    struct model m;
    ddp_tuning tried[DDP_TUNE_TRIED];
    size_t count;

    (void)state;
    model(&m, 1000000, 8, .01, 1);
    m.config.as_is = (ddp_tuning){.bucket_mb = 100, .first_bucket_mb = 100, .priority = 0};
    m.config.keep_defer = m.config.keep_priority = 1;
    count = candidates(&m, tried);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        assert_true(tried[i].defer_mb == 0 && tried[i].priority == 0 && tried[i].bucket_mb < 100);
    m.config.keep_bucket = m.config.keep_first_bucket = 1;
    assert_int_equal(candidates(&m, tried), 0);
}

static void measured_times_of_the_line_take_the_place_of_the_models(void **state)
{
    struct model m;
    double fast, slow;

    (void)state;
    model(&m, 1000000, 0, .001, 10);
    fast = step_of(&m, &m.config.as_is);
    m.config.predict.wire_s_a_byte = 1e-8;
    slow = step_of(&m, &m.config.as_is);
    assert_true(slow > .96 && slow < 1.1 && fast < slow / 2);
    m.config.predict.latency_s = 1;
    assert_true(step_of(&m, &m.config.as_is) > slow + 1);
}

static void expect_choice(double (*seconds)[DDP_TUNE_ROUNDS], size_t count, size_t want)
{
    double median_s[MOST];
    size_t got = ddp_tune_choose(seconds, count, median_s);

    if (got != want)
        fail_msg("%zu is chosen, not %zu", got, want);
}

static void what_is_stays_unless_another_is_faster_by_a_clear_margin_each_time(void **state)
{
    double alone[1][DDP_TUNE_ROUNDS] = {{1, 1, 1}};
    double by_little[2][DDP_TUNE_ROUNDS] = {{1, 1.02, .99}, {.98, .98, .98}};
    double not_always[2][DDP_TUNE_ROUNDS] = {{1, 1.2, .8}, {.7, .7, .81}};
    double slower[3][DDP_TUNE_ROUNDS] = {{1, 1, 1}, {1.1, 1.1, 1.1}, {2, 2, 2}};
    double faster[4][DDP_TUNE_ROUNDS] = {{1, 1.2, .9}, {.9, 1, .85}, {.8, .8, .8}, {.7, .7, .95}};

    (void)state;
    expect_choice(alone, 1, 0);
    expect_choice(by_little, 2, 0);
    expect_choice(not_always, 2, 0);
    expect_choice(slower, 3, 0);
    expect_choice(faster, 4, 2);
    expect_choice(faster, 2, 1);
}

static void expect_chunks(const ddp_chunk_limits *limits, ddp_chunks now, const ddp_chunks *want,
                          size_t count)
{
    const ddp_tuning as_is = {.bucket_mb = 7, .priority = 1, .chunks = now};
    ddp_tuning tried[DDP_TUNE_CHUNKS_TRIED];

    assert_int_equal(ddp_tune_chunks(tried, &as_is, limits), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(tried[i].chunks.bytes, want[i].bytes);
        assert_int_equal(tried[i].chunks.window, want[i].window);
        assert_true(tried[i].bucket_mb == 7 && tried[i].priority == 1);
    }
}

static void chunks_half_and_twice_as_long_and_many_are_tried_where_they_can_be(void **state)
{
    const ddp_chunk_limits limits = {.own = {512 << 10, 8}, .most_bytes = 1 << 20};
    const ddp_chunks want[] = {{256 << 10, 16}, {1 << 20, 4}, {512 << 10, 4}, {512 << 10, 16}};
    const ddp_chunks longest[] = {{512 << 10, 8}, {1 << 20, 2}, {1 << 20, 8}};
    const ddp_chunks one[] = {{256 << 10, 2}, {512 << 10, 2}};
    const ddp_chunks shortest[] = {{8192, 16}, {4096, 16}};

    (void)state;
    expect_chunks(&limits, (ddp_chunks){0}, want, 4);
    expect_chunks(&limits, (ddp_chunks){1 << 20, 4}, longest, 3);
    expect_chunks(&limits, (ddp_chunks){512 << 10, 1}, one, 2);
    expect_chunks(&limits, (ddp_chunks){DDP_CHUNK_LEAST_BYTES, DDP_CHUNKS_MOST}, shortest, 2);
}

static const ddp_tune_found found = {.tuning = {.bucket_mb = .3,
                                                .first_bucket_mb = 1. / 3,
                                                .defer_mb = 0,
                                                .priority = 1,
                                                .chunks = {256 << 10, 12}},
                                     .step_s = .1234,
                                     .as_is_s = .2345,
                                     .chunks_step_s = .1222,
                                     .chunks_as_is_s = .1235};

/* As it was written when chunks were not tuned. */
static const char older[] =
    "# darknet-ddp buckets: found by -ddp_autotune 1; without this file it measures again\n"
    "of this\nbucket_mb 4\nfirst_bucket_mb 1\ndefer_mb 32\npriority 1\nstep_s 0.5\n"
    "as_is_s 0.6\nend\n";

static void expect_none(const char *path, const char *key, const char *want)
{
    ddp_tune_found got = {.step_s = -1};
    const char *why;

    assert_false(ddp_tune_file_read(path, key, &got, &why));
    assert_true(got.step_s == -1);
    if (want)
        assert_string_equal(why, want);
    else
        assert_null(why);
}

static void file_comes_back_as_it_was_written(void **state)
{
    struct folder folder;
    const char *path;
    ddp_tune_found got;
    const char *why;
    ddp_error err;

    (void)state;
    folder_open(&folder);
    path = folder_file(&folder, "a.tune");
    expect_none(path, "of this", NULL);
    assert_int_equal(ddp_tune_file_write(path, "of this", &found, &err), DDP_OK);
    assert_true(ddp_tune_file_read(path, "of this", &got, &why));
    assert_memory_equal(&got, &found, sizeof got);
    expect_none(path, "of that", "is of another run");
    expect_none(path, "of", "is of another run");
    folder_close(&folder);
}

/* Cut anywhere, or with a value that no option would take. */
static void damaged_file_is_no_file(void **state)
{
    static const char *const values[] = {"priority 1", "chunks_in_flight 1"}; /* 7, 72 */
    struct folder folder;
    const char *path;
    char *text, *at;
    size_t bytes;
    ddp_error err;

    (void)state;
    folder_open(&folder);
    path = folder_file(&folder, "b.tune");
    assert_int_equal(ddp_tune_file_write(path, "of this", &found, &err), DDP_OK);
    text = folder_read(path, &bytes);
    for (size_t n = 0; n < bytes; n++) {
        ddp_tune_found got;
        const char *why;

        folder_write(path, text, n);
        if (ddp_tune_file_read(path, "of this", &got, &why) || !why)
            fail_msg("%zu bytes of %zu are taken for all", n, bytes);
    }
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        size_t length = strlen(values[v]);
        char kept;

        at = memmem(text, bytes, values[v], length);
        assert_non_null(at);
        kept = at[length - 1];
        at[length - 1] = '7';
        folder_write(path, text, bytes);
        expect_none(path, "of this", "is damaged");
        at[length - 1] = kept;
    }
    free(text);
    folder_close(&folder);
}

static void file_of_an_older_version_is_none(void **state)
{
    struct folder folder;

    (void)state;
    folder_open(&folder);
    folder_write(folder_file(&folder, "c.tune"), older, sizeof older - 1);
    expect_none(folder_file(&folder, "c.tune"), "of this", "is of an older version");
    folder_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_tried_is_predicted_to_be_faster_and_the_best_comes_first),
        cmocka_unit_test(nothing_is_tried_where_messages_cost_nothing),
        cmocka_unit_test(what_is_given_stays),
        cmocka_unit_test(measured_times_of_the_line_take_the_place_of_the_models),
        cmocka_unit_test(what_is_stays_unless_another_is_faster_by_a_clear_margin_each_time),
        cmocka_unit_test(chunks_half_and_twice_as_long_and_many_are_tried_where_they_can_be),
        cmocka_unit_test(file_comes_back_as_it_was_written),
        cmocka_unit_test(damaged_file_is_no_file),
        cmocka_unit_test(file_of_an_older_version_is_none),
    };

    return cmocka_run_group_tests_name("tune", tests, NULL, NULL);
}
