/* Ranks as threads of a test's process.
 *
 * A rank never asserts: it counts what is wrong and says the first, and goes on,
 * since one that stops between two collectives hangs the others. Include after
 * cmocka.h. */
#ifndef DDP_TESTS_RANKS_H
#define DDP_TESTS_RANKS_H

#include "comm/group.h"

#include <pthread.h>
#include <stdio.h>

enum { MAX_RANKS = 8 };

struct rank {
    ddp_group *group;
    int (*body)(ddp_group *g); /* returns how much is wrong */
    int bad;
    pthread_t thread;
};

static inline void *run_rank(void *arg)
{
    struct rank *r = arg;

    r->bad = r->body(r->group);
    return NULL;
}

/* Run body as every rank of a new world; fail when anything was wrong. */
static inline void run_ranks(int size, int (*body)(ddp_group *g))
{
    ddp_group *groups[MAX_RANKS];
    struct rank ranks[MAX_RANKS];
    ddp_error err;
    int bad = 0;

    assert_int_equal(ddp_group_open_threads(groups, size, &err), DDP_OK);
    for (int r = 0; r < size; r++) {
        ranks[r] = (struct rank){.group = groups[r], .body = body};
        assert_int_equal(pthread_create(&ranks[r].thread, NULL, run_rank, &ranks[r]), 0);
    }
    for (int r = 0; r < size; r++) {
        assert_int_equal(pthread_join(ranks[r].thread, NULL), 0);
        bad += ranks[r].bad;
    }
    for (int r = 0; r < size; r++)
        ddp_group_close(groups[r]);
    if (bad)
        fail_msg("%d ranks: %d wrong", size, bad);
}

/* 1, with the reason printed, when st is an error. */
static inline int failed(const ddp_group *g, ddp_status st, const ddp_error *err)
{
    if (st)
        (void)fprintf(stderr, "rank %d: %s\n", ddp_group_rank(g), err->text);
    return st != DDP_OK;
}

#endif
