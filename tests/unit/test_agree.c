/* Do all ranks run the same thing? What each of them says if not. */
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

/* A rank's text, and what it says to it, "%s" being the host; NULL: nothing. */
struct opinion {
    const char *text;
    const char *error;
};

static void agree(struct rank *me)
{
    const struct opinion *mine = (const struct opinion *)me->shared + me->rank;
    const char *host = ddp_group_host(me->group, me->rank);
    const char *name = mine->error ? strchr(mine->error, '@') : NULL;
    ddp_error err = {0};
    char want[512];
    ddp_status st = ddp_agree(me->group, mine->text, &err);

    if (!mine->error) {
        rank_expect_ok(me, st, &err);
        return;
    }
    (void)snprintf(want, sizeof want, "%.*s%s%s", (int)(name - mine->error), mine->error, host,
                   name + 1);
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

static void every_rank_names_the_odd_one_and_its_line(void **state)
{
    struct opinion opinions[] = {
        {"cfg 12\nseed 3\nbatch 64\n",
         "rank 2 on @ differs from rank 0: it has 'seed 4', rank 0 has 'seed 3'"},
        {"cfg 12\nseed 3\nbatch 64\n",
         "rank 2 on @ differs from rank 0: it has 'seed 4', rank 0 has 'seed 3'"},
        {"cfg 12\nseed 4\nbatch 32\n",
         "rank 2 on @ differs from rank 0: it has 'seed 4', rank 0 has 'seed 3'"},
        {"cfg 12\nseed 3\nbatch 64\n",
         "rank 2 on @ differs from rank 0: it has 'seed 4', rank 0 has 'seed 3'"},
    };

    (void)state;
    ranks_run(3, agree, opinions);
    ranks_run(4, agree, opinions);
}

static void of_two_odd_ranks_the_lower_is_named(void **state)
{
    struct opinion opinions[] = {
        {"a", "rank 1 on @ differs from rank 0: it has 'b', rank 0 has 'a'"},
        {"b", "rank 1 on @ differs from rank 0: it has 'b', rank 0 has 'a'"},
        {"a", "rank 1 on @ differs from rank 0: it has 'b', rank 0 has 'a'"},
        {"c", "rank 1 on @ differs from rank 0: it has 'b', rank 0 has 'a'"},
    };

    (void)state;
    ranks_run(4, agree, opinions);
}

static void texts_of_another_length_differ_where_one_ends(void **state)
{
    struct opinion shorter[] = {
        {"one\ntwo\nthree", "rank 1 on @ differs from rank 0: it has '', rank 0 has 'three'"},
        {"one\ntwo", "rank 1 on @ differs from rank 0: it has '', rank 0 has 'three'"}};
    struct opinion longer[] = {
        {"one\n", "rank 1 on @ differs from rank 0: it has 'two', rank 0 has ''"},
        {"one\ntwo\n", "rank 1 on @ differs from rank 0: it has 'two', rank 0 has ''"}};
    struct opinion prefix[] = {
        {"batch 64\n", "rank 1 on @ differs from rank 0: it has 'batch 6', rank 0 has 'batch 64'"},
        {"batch 6\n", "rank 1 on @ differs from rank 0: it has 'batch 6', rank 0 has 'batch 64'"}};
    struct opinion none[] = {
        {"", "rank 1 on @ differs from rank 0: it has 'one', rank 0 has ''"},
        {"one", "rank 1 on @ differs from rank 0: it has 'one', rank 0 has ''"}};

    (void)state;
    ranks_run(2, agree, shorter);
    ranks_run(2, agree, longer);
    ranks_run(2, agree, prefix);
    ranks_run(2, agree, none);
}

static void texts_that_differ_in_newlines_alone_are_not_equal(void **state)
{
    struct opinion end[] = {
        {"one", "rank 1 on @ differs from rank 0: it has '', rank 0 has ''"},
        {"one\n\n", "rank 1 on @ differs from rank 0: it has '', rank 0 has ''"}};
    struct opinion middle[] = {
        {"one\ntwo", "rank 1 on @ differs from rank 0: it has '', rank 0 has 'two'"},
        {"one\n\ntwo", "rank 1 on @ differs from rank 0: it has '', rank 0 has 'two'"}};

    (void)state;
    ranks_run(2, agree, end);
    ranks_run(2, agree, middle);
}

/* 200 letters each; an error holds 160 of both. */
static void long_lines_are_shown_of_both_ranks(void **state)
{
    char mine[201] = "", theirs[201] = "", error[512];
    struct opinion opinions[] = {{theirs, error}, {mine, error}};

    (void)state;
    memset(mine, 'm', 200);
    memset(theirs, 't', 200);
    (void)snprintf(error, sizeof error,
                   "rank 1 on @ differs from rank 0: it has '%.160s', rank 0 has '%.160s'", mine,
                   theirs);
    ranks_run(2, agree, opinions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_pass),
        cmocka_unit_test(every_rank_names_the_odd_one_and_its_line),
        cmocka_unit_test(of_two_odd_ranks_the_lower_is_named),
        cmocka_unit_test(texts_of_another_length_differ_where_one_ends),
        cmocka_unit_test(texts_that_differ_in_newlines_alone_are_not_equal),
        cmocka_unit_test(long_lines_are_shown_of_both_ranks),
    };

    return cmocka_run_group_tests_name("agree", tests, NULL, NULL);
}
