/* ddp-test: quick */
/* The table of algorithms, whichever there are: what each one's example asks for, that each claims
 * what it plugs into, so that no two meet there, and what a set of none or of one is. */
#include "algorithms/claims.h"
#include "algorithms/set.h"
#include "options/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* Parse words as behind `darknet ... -ddp`. */
static ddp_options parse(const char *words)
{
    static char text[256];
    char *argv[16] = {"darknet", "detector", "train", "-ddp"};
    int argc = 4;
    ddp_options o;
    ddp_error err;

    (void)snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    if (ddp_options_parse(&o, &argc, argv, &err))
        fail_msg("%s: %s", words, err.text);
    return o;
}

static void an_example_asks_for_its_algorithm_alone(void **state)
{
    ddp_error err;

    (void)state;
    for (size_t i = 0; ddp_algorithms[i]; i++) {
        ddp_options none = parse(""), o = parse(ddp_algorithms[i]->example);

        for (size_t k = 0; ddp_algorithms[k]; k++)
            if (ddp_algorithms[k]->is_on(&o) != (k == i))
                fail_msg("%s: %s is %s", ddp_algorithms[i]->example, ddp_algorithms[k]->example,
                         k == i ? "off" : "on");
        if (ddp_algorithms[i]->is_on(&none))
            fail_msg("%s is on without being asked for", ddp_algorithms[i]->example);
        if (ddp_claims_check(&o, 0, &err))
            fail_msg("%s: %s", ddp_algorithms[i]->example, err.text);
    }
}

static void each_claims_what_it_plugs_into(void **state)
{
    (void)state;
    for (size_t i = 0; ddp_algorithms[i]; i++) {
        const ddp_algorithm *a = ddp_algorithms[i];
        unsigned claimed = a->claims.controls, needed = 0;

        needed |= a->update ? DDP_CONTROLS_UPDATE : 0;
        needed |= a->step ? DDP_CONTROLS_STEPS : 0;
        needed |= a->layers ? DDP_CONTROLS_LAYERS : 0;
        needed |= a->sharded ? DDP_CONTROLS_SUM | DDP_CONTROLS_UPDATE | DDP_CONTROLS_ORDER : 0;
        if ((claimed & needed) != needed)
            fail_msg("%s plugs into %#x and claims %#x", a->example, needed, claimed);
        if (a->sharded && !a->moments)
            fail_msg("%s does not say which moments a rank has", a->example);
        if (needed & DDP_CONTROLS_ORDER && !a->order_subject)
            fail_msg("%s does not say whose order is fixed", a->example);
    }
}

static ddp_algorithm_set *open_set(const ddp_options *o, ddp_group *group,
                                   const ddp_param_table *table)
{
    static const ddp_residual_block block = {.first = 1, .last = 1, .shortcut = 2};
    const ddp_algorithm_of of = {
        .options = o,
        .group = group,
        .device = ddp_device_host(),
        .table = table,
        .network = {.max_batches = 10, .blocks = &block, .block_count = 1}};
    ddp_algorithm_set *set;
    ddp_error err;

    if (ddp_algorithm_set_open(&set, &of, &err))
        fail_msg("%s", err.text);
    return set;
}

static int has_plugs(const ddp_algorithm_set *set)
{
    ddp_plugs plugs = ddp_algorithm_set_plugs(set);

    return plugs.codec || plugs.update || plugs.step || plugs.layers;
}

static void who_is_not_asked_for_plugs_in_nowhere(void **state)
{
    const ddp_param_table table = {.layer_count = 3};
    ddp_options none = parse("");
    ddp_group *group;
    ddp_algorithm_set *set;
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_group_open(&group, "solo", &err), DDP_OK);
    set = open_set(&none, group, &table);
    assert_false(has_plugs(set));
    assert_false(ddp_algorithm_set_is_sharded(set));
    assert_null(ddp_algorithm_set_moments(set));
    assert_false(has_plugs(NULL));
    ddp_algorithm_set_close(set);
    ddp_algorithm_set_close(NULL);
    ddp_group_close(group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_example_asks_for_its_algorithm_alone),
        cmocka_unit_test(each_claims_what_it_plugs_into),
        cmocka_unit_test(who_is_not_asked_for_plugs_in_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
