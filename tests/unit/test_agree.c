/* ddp-test: quick */
/* Ranks check that all run the same thing, and each says what differs. */
#include "comm/collectives.h"
#include "core/agree.h"
#include "ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* A rank's text, and what it says to it, "@" being the host; NULL: nothing. */
struct opinion {
    const char *text;
    const char *error;
};

/* text with the host for each '@'. */
static void write_hosts(const char *text, const char *host, char *out, size_t size)
{
    size_t used = 0;

    for (; *text && used < size; text++)
        used += (size_t)(*text == '@' ? snprintf(out + used, size - used, "%s", host)
                                      : snprintf(out + used, size - used, "%c", *text));
}

static void agree(struct rank *me)
{
    const struct opinion *mine = (const struct opinion *)me->shared + me->rank;
    ddp_error err = {0};
    char want[512];
    ddp_status st = ddp_agree(me->group, mine->text, &err);

    if (!mine->error) {
        rank_expect_ok(me, st, &err);
        return;
    }
    write_hosts(mine->error, ddp_group_host(me->group, me->rank), want, sizeof want);
    rank_expect_error(me, st, &err, DDP_ERR_MISMATCH, want);
    rank_expect_ok(me, ddp_barrier(me->group, &err), &err);
}

static void equal_texts_pass(void **state)
{
    struct opinion same[] = {{"cfg 12\nseed 3\n", NULL},
                             {"cfg 12\nseed 3\n", NULL},
                             {"cfg 12\nseed 3\n", NULL},
                             {"cfg 12\nseed 3\n", NULL}};
    struct opinion empty[] = {{"", NULL}, {"", NULL}};

    (void)state;
    for (int size = 1; size <= 4; size++)
        ranks_run(size, agree, same);
    ranks_run(2, agree, empty);
}

static void every_rank_names_both_sides_and_their_line(void **state)
{
    static const char one[] =
        "rank 2 on @ differs from ranks 0, 1 on @: it has 'seed 4', not 'seed 3'";
    static const char two[] =
        "ranks 1, 3 on @ differ from ranks 0, 2 on @: they have 'seed 4', not 'seed 3'";
    struct opinion of_one[] = {{"cfg 12\nseed 3\nbatch 64\n", one},
                               {"cfg 12\nseed 3\nbatch 64\n", one},
                               {"cfg 12\nseed 4\nbatch 32\n", one}};
    struct opinion of_two[] = {{"cfg 12\nseed 3\n", two},
                               {"cfg 12\nseed 4\n", two},
                               {"cfg 12\nseed 3\n", two},
                               {"cfg 12\nseed 4\n", two}};

    (void)state;
    ranks_run(3, agree, of_one);
    ranks_run(4, agree, of_two);
}

/* The hosts of threads are all one. */
static void many_ranks_are_counted(void **state)
{
    static const char many[] =
        "ranks 1, 2, 3, 4, 5, 6 and 1 more on @ differ from rank 0 on @: they have 'b', not 'a'";
    enum { RANKS = 8 };
    struct opinion opinions[RANKS] = {{"a", many}};

    (void)state;
    for (int r = 1; r < RANKS; r++)
        opinions[r] = (struct opinion){"b", many};
    ranks_run(RANKS, agree, opinions);
}

static void of_two_odd_ranks_the_lower_is_named(void **state)
{
    struct opinion opinions[] = {
        {"a", "rank 1 on @ differs from ranks 0, 2 on @: it has 'b', not 'a'"},
        {"b", "rank 1 on @ differs from ranks 0, 2 on @: it has 'b', not 'a'"},
        {"a", "rank 1 on @ differs from ranks 0, 2 on @: it has 'b', not 'a'"},
        {"c", "rank 1 on @ differs from ranks 0, 2 on @: it has 'b', not 'a'"},
    };

    (void)state;
    ranks_run(4, agree, opinions);
}

static void texts_of_another_length_differ_where_one_ends(void **state)
{
    struct opinion shorter[] = {
        {"one\ntwo\nthree", "rank 1 on @ differs from rank 0 on @: it has '', not 'three'"},
        {"one\ntwo", "rank 1 on @ differs from rank 0 on @: it has '', not 'three'"}};
    struct opinion longer[] = {
        {"one\n", "rank 1 on @ differs from rank 0 on @: it has 'two', not ''"},
        {"one\ntwo\n", "rank 1 on @ differs from rank 0 on @: it has 'two', not ''"}};
    struct opinion prefix[] = {
        {"batch 64\n", "rank 1 on @ differs from rank 0 on @: it has 'batch 6', not 'batch 64'"},
        {"batch 6\n", "rank 1 on @ differs from rank 0 on @: it has 'batch 6', not 'batch 64'"}};
    struct opinion none[] = {{"", "rank 1 on @ differs from rank 0 on @: it has 'one', not ''"},
                             {"one", "rank 1 on @ differs from rank 0 on @: it has 'one', not ''"}};

    (void)state;
    ranks_run(2, agree, shorter);
    ranks_run(2, agree, longer);
    ranks_run(2, agree, prefix);
    ranks_run(2, agree, none);
}

static void texts_that_differ_in_newlines_alone_are_not_equal(void **state)
{
    struct opinion end[] = {{"one", "rank 1 on @ differs from rank 0 on @: it has '', not ''"},
                            {"one\n\n", "rank 1 on @ differs from rank 0 on @: it has '', not ''"}};
    struct opinion middle[] = {
        {"one\ntwo", "rank 1 on @ differs from rank 0 on @: it has '', not 'two'"},
        {"one\n\ntwo", "rank 1 on @ differs from rank 0 on @: it has '', not 'two'"}};

    (void)state;
    ranks_run(2, agree, end);
    ranks_run(2, agree, middle);
}

/* 200 letters each; an error holds 104 of both. */
static void long_lines_are_shown_of_both_ranks(void **state)
{
    char mine[201] = "", theirs[201] = "", error[512];
    struct opinion opinions[] = {{theirs, error}, {mine, error}};

    (void)state;
    memset(mine, 'm', 200);
    memset(theirs, 't', 200);
    (void)snprintf(error, sizeof error,
                   "rank 1 on @ differs from rank 0 on @: it has '%.104s', not '%.104s'", mine,
                   theirs);
    ranks_run(2, agree, opinions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_pass),
        cmocka_unit_test(every_rank_names_both_sides_and_their_line),
        cmocka_unit_test(many_ranks_are_counted),
        cmocka_unit_test(of_two_odd_ranks_the_lower_is_named),
        cmocka_unit_test(texts_of_another_length_differ_where_one_ends),
        cmocka_unit_test(texts_that_differ_in_newlines_alone_are_not_equal),
        cmocka_unit_test(long_lines_are_shown_of_both_ranks),
    };

    return cmocka_run_group_tests_name("agree", tests, NULL, NULL);
}
