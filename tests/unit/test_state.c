/* ddp-test: quick */
/* Arrays that training keeps beside the network's own, as ranks get them from the one that has read
 * a checkpoint. */
#include "core/state.h"
#include "ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above, in this order. */
#include <cmocka.h>

enum { MAX_RANKS = 4, COUNT = 3 };

struct job {
    int root, was; /* ranks that wrote the checkpoint */
};

static float of_old_rank(int rank, size_t i)
{
    return (float)(100 * (rank + 1)) + (float)i;
}

/* Old rank r's errors are added to those of rank r modulo the ranks there are now. */
static float of_rank(const struct rank *me, int was, size_t i)
{
    float sum = 0;

    for (int old = me->rank; old < was; old += me->size)
        sum += of_old_rank(old, i);
    return sum;
}

static void share(struct rank *me)
{
    const struct job *job = me->shared;
    const size_t counts[] = {COUNT};
    size_t same, own;
    ddp_state *s;
    ddp_error err;

    rank_expect_ok(me, ddp_state_open(&s, 1, &err), &err);
    rank_expect_ok(
        me, ddp_state_add_set(s, &(ddp_state_spec){"same", DDP_STATE_SAME, 0}, counts, &same, &err),
        &err);
    rank_expect_ok(
        me,
        ddp_state_add_set(s, &(ddp_state_spec){"own", DDP_STATE_OF_RANK, 0}, counts, &own, &err),
        &err);
    for (size_t i = 0; i < COUNT; i++)
        ddp_state_host(s, same, 0)[i] = of_old_rank(me->rank, i);
    if (me->rank == job->root) {
        rank_expect_ok(me, ddp_state_reserve(s, job->was, &err), &err);
        for (int old = 0; old < job->was; old++)
            for (size_t i = 0; i < COUNT; i++)
                ddp_state_gathered_array(s, own, old, 0)[i] = of_old_rank(old, i);
    }
    rank_expect_ok(me, ddp_state_share(s, me->group, job->root, &err), &err);
    for (size_t i = 0; i < COUNT; i++)
        if (ddp_state_host(s, same, 0)[i] != of_old_rank(job->root, i)
            || ddp_state_host(s, own, 0)[i] != of_rank(me, job->was, i))
            rank_wrong(me, "[%zu] is %g and %g", i, (double)ddp_state_host(s, same, 0)[i],
                       (double)ddp_state_host(s, own, 0)[i]);
    ddp_state_close(s);
}

static void ranks_get_the_root_s_and_what_the_root_has_of_each(void **state)
{
    (void)state;
    for (int size = 1; size <= MAX_RANKS; size++)
        for (int root = 0; root < size; root++)
            for (int was = 1; was <= MAX_RANKS + 1; was++)
                ranks_run(size, share, &(struct job){root, was});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_get_the_root_s_and_what_the_root_has_of_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
