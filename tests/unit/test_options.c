/* ddp-test: quick */
/* The table of options: what each rank may have of its own, and what all must have alike. */
#include "options/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* Who starts ranks, and where; what a host has; what rank 0 alone does, prints and writes. */
static const char *const may_differ[] = {"-ddp",
                                         "-ddp_ranks",
                                         "-ddp_hosts",
                                         "-ddp_interface",
                                         "-ddp_max_restarts",
                                         "-ddp_grace",
                                         "-ddp_lone",
                                         "-ddp_oversubscribe",
                                         "-ddp_rendezvous",
                                         "-gpus",
                                         "-i",
                                         "-nogpu",
                                         "-ddp_take_over",
                                         "-ddp_on_save_error",
                                         "-keep",
                                         "-nocheck",
                                         "-ddp_records",
                                         "-tensorboard",
                                         "-ddp_trace",
                                         "-verbose",
                                         "-threads",
                                         "-ddp_trace_steps",
                                         "-layers",
                                         "-log_every"};

static int is_in_list(const char *name)
{
    for (size_t i = 0; i < sizeof may_differ / sizeof may_differ[0]; i++)
        if (strcmp(may_differ[i], name) == 0)
            return 1;
    return 0;
}

/* An option more than these that no rank compares is one by which ranks may train different
 * networks. */
static void ranks_compare_all_options_but_these(void **state)
{
    size_t differing = 0;

    (void)state;
    for (int i = 0; i < DDP_OPTION_ROWS; i++) {
        const ddp_option *row = &ddp_option_table[i];
        int is_compared = (row->columns & DDP_OPTION_AGREE) != 0;

        if (row->scope == DDP_OPTION_SCOPE_COMMAND)
            continue;
        if (is_compared == is_in_list(row->name))
            fail_msg("%s: %s", row->name,
                     is_compared
                         ? "ranks compare it, and the list says that it may differ"
                         : "no rank compares it: has it its AGREE, or a place in the list?");
        differing += !is_compared;
    }
    assert_int_equal(differing, sizeof may_differ / sizeof may_differ[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_compare_all_options_but_these),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
