/* ddp-test: quick */
/* What is read of mpirun's pages (launch/mpirun_says.h): those of Open MPI 4, which breaks lines
 * where its author did, and of 5, which breaks them where a line is full. */
#include "launch/mpirun_says.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define RULE "--------------------------------------------------------------------------\n"

static ddp_mpirun_frame frame;

static void read_page(const char *text)
{
    char page[2048];

    (void)snprintf(page, sizeof page, RULE "%s" RULE, text);
    ddp_mpirun_read_frame(&frame, page);
}

static void finds_a_rank_that_a_signal_ended(void **unused)
{
    static const char *const pages[] = {
        "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).\n",
        "prterun noticed that process rank 1 with PID 4307 on node vm exited on\nsignal 9 "
        "(Killed).\n"};

    (void)unused;
    for (int i = 0; i < 2; i++) {
        read_page(pages[i]);
        assert_true(frame.is_end);
        assert_false(frame.is_no_start);
        assert_int_equal(frame.rank, 1);
        assert_int_equal(frame.signal, 9);
        assert_string_equal(frame.host, "vm");
    }
}

static void finds_a_rank_that_ended_by_itself(void **unused)
{
    (void)unused;
    read_page("prterun has exited due to process rank 2 with PID 4522 on node a.b "
              "exiting\nimproperly. There are\n");
    assert_true(frame.is_end);
    assert_int_equal(frame.rank, 2);
    assert_int_equal(frame.signal, 0);
    assert_string_equal(frame.host, "a.b");
    read_page("prterun has exited due to process rank 1 with PID 0 on node vm calling\n\"abort\". "
              "This\n");
    assert_true(frame.is_end);
    assert_int_equal(frame.rank, -1);
}

static void finds_a_host_that_was_lost(void **unused)
{
    (void)unused;
    read_page("PRTE has lost communication with a remote daemon.\n\n  HNP daemon   : "
              "[prterun-a-1@0,0] on node a\n"
              "  Remote daemon: [prterun-a-1@0,1] on node b\n\nThis is\n");
    assert_true(frame.is_end);
    assert_string_equal(frame.lost, "b");
    assert_string_equal(frame.sentence, "PRTE has lost communication with a remote daemon");
    assert_int_equal(frame.rank, -1);
}

static void knows_that_nothing_was_started(void **unused)
{
    (void)unused;
    read_page("There are not enough slots available in the system to satisfy the 2\nslots that "
              "were requested by the application:\n");
    assert_true(frame.is_end);
    assert_true(frame.is_no_start);
    read_page("A page about\nsomething else.\n");
    assert_false(frame.is_end);
}

static void tells_rules_and_asides(void **unused)
{
    (void)unused;
    assert_true(ddp_mpirun_is_rule(RULE, strlen(RULE)));
    assert_false(ddp_mpirun_is_rule("---- 5 ----\n", strlen("---- 5 ----\n")));
    assert_true(ddp_mpirun_is_aside("PRTE: Forwarding signal 12 to job\n", 34));
    assert_false(ddp_mpirun_is_aside("1: 2.0, 2.0 avg\n", 16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_rank_that_a_signal_ended),
        cmocka_unit_test(finds_a_rank_that_ended_by_itself),
        cmocka_unit_test(finds_a_host_that_was_lost),
        cmocka_unit_test(knows_that_nothing_was_started),
        cmocka_unit_test(tells_rules_and_asides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
