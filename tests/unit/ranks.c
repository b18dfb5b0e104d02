#include "ranks.h"
#include "comm/group_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

struct start {
    void (*body)(struct rank *me);
    int levels;
    struct rank rank;
    pthread_t thread;
};

static void *run_rank(void *arg)
{
    struct start *s = arg;
    ddp_error err;

    if (s->levels)
        rank_expect_ok(
            &s->rank, ddp_group_use_schedule(s->rank.group, DDP_SCHEDULE_HIERARCHICAL, &err), &err);
    if (s->rank.wrong[0] == '\0')
        s->body(&s->rank);
    return NULL;
}

static void run_groups(ddp_group **groups, int size, int levels, void (*body)(struct rank *me),
                       void *shared)
{
    static const int64_t timeout_ns = 120 * INT64_C(1000000000);
    struct start starts[RANKS_MAX];
    pthread_barrier_t meeting;
    int wrong = 0;

    assert_int_equal(pthread_barrier_init(&meeting, NULL, (unsigned)size), 0);
    for (int r = 0; r < size; r++) {
        ddp_group_set_timeout(groups[r], timeout_ns);
        starts[r].body = body;
        starts[r].levels = levels;
        starts[r].rank = (struct rank){
            .group = groups[r], .rank = r, .size = size, .shared = shared, .meeting = &meeting};
        assert_int_equal(pthread_create(&starts[r].thread, NULL, run_rank, &starts[r]), 0);
    }
    for (int r = 0; r < size; r++)
        assert_int_equal(pthread_join(starts[r].thread, NULL), 0);
    for (int r = 0; r < size; r++) {
        ddp_group_close(groups[r]);
        if (starts[r].rank.wrong[0] == '\0')
            continue;
        print_error("rank %d of %d: %s\n", r, size, starts[r].rank.wrong);
        wrong++;
    }
    assert_int_equal(pthread_barrier_destroy(&meeting), 0);
    if (wrong)
        fail_msg("%d of %d ranks found something wrong", wrong, size);
}

void ranks_run(int size, void (*body)(struct rank *me), void *shared)
{
    ddp_group *groups[RANKS_MAX];
    ddp_error err;

    assert_in_range(size, 1, RANKS_MAX);
    if (ddp_group_open_threads(groups, size, &err))
        fail_msg("%d ranks: %s", size, err.text);
    run_groups(groups, size, 0, body, shared);
}

void ranks_run_levels(const int *ranks, int hosts, int radix, void (*body)(struct rank *me),
                      void *shared)
{
    ddp_group *groups[RANKS_MAX];
    ddp_error err;
    int size = 0;

    for (int h = 0; h < hosts; h++)
        size += ranks[h];
    assert_in_range(size, 1, RANKS_MAX);
    if (ddp_group_open_hosts(groups, ranks, hosts, radix, &err))
        fail_msg("%d ranks on %d hosts: %s", size, hosts, err.text);
    run_groups(groups, size, 1, body, shared);
}

void ranks_run_shapes(const struct hosts_shape *shapes, size_t count, void (*body)(struct rank *me))
{
#ifdef __SANITIZE_THREAD__
    enum { EACH = 4 };
#else
    enum { EACH = 1 };
#endif
    size_t first = count > EACH / 2 ? EACH / 2 : 0;

    for (size_t i = first; i < count; i += EACH)
        ranks_run_levels(shapes[i].ranks, shapes[i].hosts, shapes[i].radix, body, NULL);
}

void rank_wrong(struct rank *me, const char *fmt, ...)
{
    va_list ap;

    if (me->wrong[0] != '\0')
        return;
    va_start(ap, fmt);
    (void)vsnprintf(me->wrong, sizeof me->wrong, fmt, ap);
    va_end(ap);
}

void rank_expect_ok(struct rank *me, ddp_status st, const ddp_error *err)
{
    if (st)
        rank_wrong(me, "error %d: %s", st, err->text);
}

void rank_expect_error(struct rank *me, ddp_status st, const ddp_error *err, ddp_status want,
                       const char *text)
{
    if (st != want)
        rank_wrong(me, "status %d, not %d: %s", st, want, st ? err->text : "no error");
    else if (strcmp(err->text, text) != 0)
        rank_wrong(me, "'%s', not '%s'", err->text, text);
}

void rank_meet(struct rank *me)
{
    (void)pthread_barrier_wait(me->meeting);
}
