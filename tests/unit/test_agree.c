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

static void odd_rank_names_its_line_and_the_others_name_the_rank(void **state)
{
    struct opinion opinions[] = {
        {"cfg 12\nseed 3\nbatch 64\n", "rank 2 on @ differs from rank 0"},
        {"cfg 12\nseed 3\nbatch 64\n", "rank 2 on @ differs from rank 0"},
        {"cfg 12\nseed 4\nbatch 32\n",
         "rank 2 on @ differs from rank 0: 'seed 4' here, 'seed 3' on rank 0"},
        {"cfg 12\nseed 3\nbatch 64\n", "rank 2 on @ differs from rank 0"},
    };

    (void)state;
    ranks_run(3, agree, opinions);
    ranks_run(4, agree, opinions);
}

static void of_two_odd_ranks_each_names_itself_and_the_others_the_lower(void **state)
{
    struct opinion opinions[] = {
        {"a", "rank 1 on @ differs from rank 0"},
        {"b", "rank 1 on @ differs from rank 0: 'b' here, 'a' on rank 0"},
        {"a", "rank 1 on @ differs from rank 0"},
        {"c", "rank 3 on @ differs from rank 0: 'c' here, 'a' on rank 0"},
    };

    (void)state;
    ranks_run(4, agree, opinions);
}

static void texts_of_another_length_differ_where_one_ends(void **state)
{
    struct opinion shorter[] = {
        {"one\ntwo\nthree", "rank 1 on @ differs from rank 0"},
        {"one\ntwo", "rank 1 on @ differs from rank 0: '' here, 'three' on rank 0"}};
    struct opinion longer[] = {
        {"one\n", "rank 1 on @ differs from rank 0"},
        {"one\ntwo\n", "rank 1 on @ differs from rank 0: 'two' here, '' on rank 0"}};
    struct opinion prefix[] = {
        {"batch 64\n", "rank 1 on @ differs from rank 0"},
        {"batch 6\n", "rank 1 on @ differs from rank 0: 'batch 6' here, 'batch 64' on rank 0"}};
    struct opinion none[] = {{"", "rank 1 on @ differs from rank 0"},
                             {"one", "rank 1 on @ differs from rank 0: 'one' here, '' on rank 0"}};

    (void)state;
    ranks_run(2, agree, shorter);
    ranks_run(2, agree, longer);
    ranks_run(2, agree, prefix);
    ranks_run(2, agree, none);
}

static void texts_that_differ_in_newlines_alone_are_not_equal(void **state)
{
    struct opinion end[] = {{"one", "rank 1 on @ differs from rank 0"},
                            {"one\n\n", "rank 1 on @ differs from rank 0: '' here, '' on rank 0"}};
    struct opinion middle[] = {
        {"one\ntwo", "rank 1 on @ differs from rank 0"},
        {"one\n\ntwo", "rank 1 on @ differs from rank 0: '' here, 'two' on rank 0"}};

    (void)state;
    ranks_run(2, agree, end);
    ranks_run(2, agree, middle);
}

/* 200 letters each; an error holds 160 of both. */
static void long_lines_are_shown_of_both_ranks(void **state)
{
    char mine[201] = "", theirs[201] = "", error[512];
    struct opinion opinions[] = {{theirs, "rank 1 on @ differs from rank 0"}, {mine, error}};

    (void)state;
    memset(mine, 'm', 200);
    memset(theirs, 't', 200);
    (void)snprintf(error, sizeof error,
                   "rank 1 on @ differs from rank 0: '%.160s' here, '%.160s' on rank 0", mine,
                   theirs);
    ranks_run(2, agree, opinions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_pass),
        cmocka_unit_test(odd_rank_names_its_line_and_the_others_name_the_rank),
        cmocka_unit_test(of_two_odd_ranks_each_names_itself_and_the_others_the_lower),
        cmocka_unit_test(texts_of_another_length_differ_where_one_ends),
        cmocka_unit_test(texts_that_differ_in_newlines_alone_are_not_equal),
        cmocka_unit_test(long_lines_are_shown_of_both_ranks),
    };

    return cmocka_run_group_tests_name("agree", tests, NULL, NULL);
}
