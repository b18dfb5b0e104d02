/* ddp-test: quick */
/* Files that a run leaves beside its weights: the CSV file, the thinned history, the page, and the
 * event file of TensorBoard. */
#include "folder.h"
#include "monitor/csv.h"
#include "monitor/history.h"
#include "monitor/page.h"
#include "monitor/tensorboard.h"
#include "numbers.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static struct folder folder;

static int open_folder(void **state)
{
    (void)state;
    folder_open(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

static void expect_file(const char *path, const char *want)
{
    size_t size;
    char *got = folder_read(path, &size);

    got = realloc(got, size + 1);
    assert_non_null(got);
    got[size] = 0;
    assert_string_equal(got, want);
    free(got);
}

/* ---- CSV ---- */

static const char *const names[] = {"step", "loss", "map"};

static void sum_steps(void *ctx, const double *values)
{
    *(double *)ctx += values[0];
}

static ddp_csv *open_csv(const char *path, uint64_t step, double *steps)
{
    ddp_csv *c;
    ddp_error err;

    if (ddp_csv_open(&c, path, names, 3, step, sum_steps, steps, &err))
        fail_msg("%s", err.text);
    return c;
}

static void add_row(ddp_csv *c, double step, double loss, double map)
{
    const double values[] = {step, loss, map};

    ddp_csv_add(c, values);
}

static void rows_of_a_run(void **state)
{
    const char *path = folder_file(&folder, "run.csv");
    double steps = 0;
    ddp_csv *c = open_csv(path, 0, &steps);

    (void)state;
    add_row(c, 1, 2.5, NAN);
    add_row(c, 2, 1.25, 0.5);
    ddp_csv_close(c);
    expect_file(path, "step,loss,map\n1,2.5,\n2,1.25,0.5\n");
}

/* A run that stopped behind its last checkpoint comes to the same steps again. */
static void resuming_makes_no_row_twice(void **state)
{
    const char *path = folder_file(&folder, "resumed.csv");
    static const char before[] = "step,loss,map\n1,4,\n# a remark\n\n2,3,.25\n2,,.5\n3,2,\n4,1";
    double steps = 0;
    ddp_csv *c;

    (void)state;
    folder_write(path, before, sizeof before - 1);
    c = open_csv(path, 2, &steps);
    assert_number_equal(steps, 1 + 2 + 2);
    add_row(c, 3, 2.5, NAN);
    ddp_csv_close(c);
    expect_file(path, "step,loss,map\n1,4,\n# a remark\n\n2,3,.25\n2,,.5\n3,2.5,\n");
}

/* The last row gets what became known of its step once the run went on. */
static void the_last_row_is_replaced(void **state)
{
    const char *path = folder_file(&folder, "replaced.csv");
    static const char before[] = "step,loss,map\n1,4,\n2,3,\n3,2,\n",
                      remark[] = "step,loss,map\n1,4,\n# mine\n";
    double steps = 0;
    ddp_csv *c;

    (void)state;
    folder_write(path, before, sizeof before - 1);
    c = open_csv(path, 2, &steps);
    ddp_csv_replace_last(c, (const double[]){2, 3, .25});
    add_row(c, 3, 2.5, NAN);
    ddp_csv_close(c);
    expect_file(path, "step,loss,map\n1,4,\n2,3,0.25\n3,2.5,\n");
    folder_write(path, remark, sizeof remark - 1);
    c = open_csv(path, 1, &steps);
    ddp_csv_replace_last(c, (const double[]){1, 4, .25});
    ddp_csv_close(c);
    expect_file(path, "step,loss,map\n1,4,\n# mine\n1,4,0.25\n");
}

/* A run that was taken over has rows that it has not written yet, and ends a moment later. */
static void what_another_run_still_writes_goes_nowhere(void **state)
{
    const char *path = folder_file(&folder, "taken.csv");
    double steps = 0;
    ddp_csv *first = open_csv(path, 0, &steps), *second;

    (void)state;
    add_row(first, 1, 4, NAN);
    add_row(first, 2, 3, NAN);
    add_row(first, 3, 2, NAN);
    ddp_csv_flush(first, 1);
    add_row(first, 4, 1, NAN);
    second = open_csv(path, 2, &steps);
    ddp_csv_bring_back(first, path);
    ddp_csv_close(first);
    add_row(second, 3, 2.5, NAN);
    ddp_csv_close(second);
    expect_file(path, "step,loss,map\n1,4,\n2,3,\n3,2.5,\n");
}

static void a_file_of_another_run_is_put_aside(void **state)
{
    const char *path = folder_file(&folder, "other.csv");
    const char *old = folder_file(&folder, "other.csv.old");
    double steps = 0;

    (void)state;
    folder_write(path, "step,loss\n1,2\n", 14);
    ddp_csv_close(open_csv(path, 7, &steps));
    expect_file(path, "step,loss,map\n");
    expect_file(old, "step,loss\n1,2\n");
    ddp_csv_close(open_csv(path, 0, &steps));
    expect_file(path, "step,loss,map\n");
    expect_file(old, "step,loss\n1,2\n");
    expect_file(folder_file(&folder, "other.csv.old.2"), "step,loss,map\n");
    assert_number_equal(steps, 0);
}

/* There was no room for the first line, and is now: nothing is put aside. */
static void an_empty_one_is_not_kept(void **state)
{
    const char *path = folder_file(&folder, "empty.csv");
    double steps = 0;

    (void)state;
    for (uint64_t step = 0; step < 2; step++) {
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
        ddp_csv_close(open_csv(path, step, &steps));
        expect_file(path, "step,loss,map\n");
        assert_int_equal(access(folder_file(&folder, "empty.csv.old"), F_OK), -1);
    }
}

/* Rows wait while there is no room, and the file holds whole rows alone. */
static void a_full_disk_loses_nothing_that_room_comes_for(void **state)
{
    const char *path = folder_file(&folder, "full.csv");
    struct rlimit before, small;
    const char *why;
    double steps = 0;
    ddp_csv *c = open_csv(path, 0, &steps);

    (void)state;
    ddp_csv_flush(c, 1);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 18; /* the first row begins at 14 and has 5 bytes */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    add_row(c, 1, 2, NAN);
    ddp_csv_flush(c, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(ddp_csv_lost(c, &why), 1);
    assert_non_null(why);
    expect_file(path, "step,loss,map\n");
    add_row(c, 2, 1, NAN);
    ddp_csv_flush(c, 1);
    assert_int_equal(ddp_csv_lost(c, &why), 0);
    assert_null(why);
    ddp_csv_close(c);
    expect_file(path, "step,loss,map\n1,2,\n2,1,\n");
}

/* ---- history ---- */

static ddp_history *history_of(size_t columns, size_t points)
{
    ddp_history *h;
    ddp_error err;

    if (ddp_history_open(&h, columns, points, &err))
        fail_msg("%s", err.text);
    return h;
}

static void thinning_keeps_means_and_peaks(void **state)
{
    enum { ROWS = 1000, POINTS = 16 };
    ddp_history *h = history_of(2, POINTS);
    double sum = 0, greatest = -1, rows = 0, rare = 0;

    (void)state;
    for (int i = 1; i <= ROWS; i++) {
        const double values[] = {i == 333 ? 5000 : i, i % 100 ? (double)NAN : i};

        ddp_history_add(h, i, values);
    }
    assert_in_range(ddp_history_points(h), POINTS / 2, POINTS);
    for (size_t p = 0; p < ddp_history_points(h); p++) {
        ddp_history_value v = ddp_history_at(h, p, 0), w = ddp_history_at(h, p, 1);

        sum += v.mean * (double)v.count;
        rows += (double)v.count;
        rare += (double)w.count;
        greatest = fmax(greatest, v.greatest);
        assert_true(w.count > 0 || isnan(w.mean));
        assert_true(p == 0 || ddp_history_x(h, p) > ddp_history_x(h, p - 1));
    }
    assert_number_equal(rows, ROWS);
    assert_number_equal(rare, ROWS / 100);
    assert_near(sum, (ROWS * (ROWS + 1) / 2. - 333 + 5000), 1e-6);
    assert_number_equal(greatest, 5000);
    assert_number_equal(ddp_history_x(h, ddp_history_points(h) - 1), ROWS);
    ddp_history_close(h);
}

/* ---- the page ---- */

static void page_escapes_and_closes_its_brackets(void **state)
{
    static const ddp_page_chart chart = {
        .title = "Loss", .unit = "", .series = {{0, "</script>\"\\\n"}}, .series_count = 1};
    static const ddp_page_picture picture = {
        .caption = "a.png", .mime = "image/png", .bytes = "ab", .count = 2};
    ddp_history *h = history_of(1, 4);
    ddp_page page = {.title = "t",
                     .status = "s",
                     .written = "w",
                     .x_name = "step",
                     .history = h,
                     .charts = &chart,
                     .chart_count = 1,
                     .pictures = &picture,
                     .picture_count = 1};
    const double values[] = {1.5, NAN};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int depth = 0;

    (void)state;
    assert_non_null(out);
    ddp_history_add(h, 1, values);
    ddp_history_add(h, 2, values + 1);
    ddp_page_write(out, &page);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\"x\":[1,2]"));
    assert_non_null(strstr(text, "\"mean\":[1.5,null]"));
    assert_non_null(strstr(text, "\"\\u003c/script>\\u0022\\u005c\\u000a\""));
    assert_non_null(strstr(text, "data:image/png;base64,YWI=\""));
    assert_non_null(strstr(text, "</html>"));
    for (const char *at = text; *at; at++)
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    assert_int_equal(depth, 0);
    assert_null(strstr(text, "@DATA@"));
    assert_null(strstr(text, "src=\"http"));
    free(text);
    ddp_history_close(h);
}

/* A page has as many lines as a run's may have, pictures too, after half a million steps of
 * noise. */
static void page_of_a_long_run_is_no_longer_than_two_million_bytes(void **state)
{
    enum { CHARTS = 6, LINES = 8, STEPS = 500000, PICTURE = 24000 };
    static const char bytes[PICTURE];
    ddp_page_chart charts[CHARTS];
    ddp_page_picture pictures[8];
    ddp_history *h = history_of(CHARTS * LINES, 1000);
    ddp_page page = {.title = "t",
                     .history = h,
                     .charts = charts,
                     .chart_count = CHARTS,
                     .pictures = pictures,
                     .picture_count = sizeof pictures / sizeof pictures[0]};
    double row[CHARTS * LINES];
    unsigned seed = 1;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    for (size_t c = 0; c < CHARTS; c++) {
        charts[c] = (ddp_page_chart){.title = "a chart", .unit = "", .band = 1};
        for (size_t s = 0; s < LINES; s++)
            charts[c].series[charts[c].series_count++] = (ddp_page_series){c * LINES + s, "a line"};
    }
    for (size_t p = 0; p < page.picture_count; p++)
        pictures[p] = (ddp_page_picture){
            .caption = "a.jpg", .mime = "image/jpeg", .bytes = bytes, .count = PICTURE};
    for (int step = 1; step <= STEPS; step++) {
        for (size_t c = 0; c < CHARTS * LINES; c++) {
            seed = seed * 1664525 + 1013904223;
            row[c] = seed * 1e-6;
        }
        ddp_history_add(h, step, row);
    }
    ddp_page_write(out, &page);
    assert_int_equal(fclose(out), 0);
    assert_greater(ddp_history_points(h), 400);
    assert_less(size, 2000000);
    free(text);
    ddp_history_close(h);
}

/* ---- TensorBoard ---- */

/* CRC-32C of "123456789" is e3069283, by which its records are checked. Bytes of the first record
 * as TensorFlow writes it for time 0. */
static void event_file_begins_as_tensorflow_begins_it(void **state)
{
    static const unsigned char start[] = {24, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22, 9};
    char path[512];
    ddp_tensorboard *t;
    ddp_error err;
    size_t size;
    unsigned char *got;

    (void)state;
    if (ddp_tensorboard_open(&t, folder.path, 0, &err))
        fail_msg("%s", err.text);
    ddp_tensorboard_add(t, 1, 300, "loss", 0.5f);
    ddp_tensorboard_close(t);
    folder_list(&folder, path, sizeof path);
    got = folder_read(folder_file(&folder, strtok(strstr(path, "events.out"), " ")), &size);
    assert_int_equal(size, (16 + 9 + 15) + (16 + 9 + 3 + 2 + 2 + 6 + 5));
    assert_memory_equal(got, start, sizeof start);
    assert_memory_equal(got + 12 + 9 + 2, "brain.Event:2", 13);
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_run),
        cmocka_unit_test(resuming_makes_no_row_twice),
        cmocka_unit_test(the_last_row_is_replaced),
        cmocka_unit_test(what_another_run_still_writes_goes_nowhere),
        cmocka_unit_test(a_file_of_another_run_is_put_aside),
        cmocka_unit_test(an_empty_one_is_not_kept),
        cmocka_unit_test(a_full_disk_loses_nothing_that_room_comes_for),
        cmocka_unit_test(thinning_keeps_means_and_peaks),
        cmocka_unit_test(page_escapes_and_closes_its_brackets),
        cmocka_unit_test(page_of_a_long_run_is_no_longer_than_two_million_bytes),
        cmocka_unit_test(event_file_begins_as_tensorflow_begins_it),
    };

    (void)signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
