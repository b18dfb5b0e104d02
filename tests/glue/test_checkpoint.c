/* ddp-test: quick */
/* A network goes on from a checkpoint as if it had never stopped, to the bit. */
#include "../unit/numbers.h"
#include "state/save.h"

#include "../unit/folder.h"
#include "glue/param_table.h"
#include "timing/synthetic.h"

#include <darknet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NET(more) "[net]\nbatch=4\nwidth=8\nheight=8\nchannels=3\nmomentum=0.9\ndecay=0.01\n" more

static const char layers[] = "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=1\n"
                             "pad=1\nactivation=leaky\n[batchnorm]\n[local]\nfilters=2\nsize=3\n"
                             "stride=2\nactivation=leaky\n[connected]\noutput=5\n[softmax]\n";
static const char momentum[] = NET("learning_rate=0.01\nmax_batches=100\n");
static const char adam[] = NET("learning_rate=0.001\nmax_batches=100\nadam=1\n");
static const char partial[] = "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=1\n"
                              "pad=1\nactivation=leaky\nnumload=2\n[avgpool]\n[connected]\n"
                              "output=5\ndontsave=1\n[softmax]\n";

static struct folder folder;
static char notes[1024];

static int open_folder(void **state)
{
    (void)state;
    notes[0] = 0;
    folder_open(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

static void take_note(void *ctx, const char *sentence)
{
    size_t used = strlen(notes);

    (void)ctx;
    (void)snprintf(notes + used, sizeof notes - used, "%s%s", used ? "\n" : "", sentence);
}

static const ddp_pair_listener listener = {take_note, NULL};

static network *parse(const char *head, const char *tail, char *text, size_t size)
{
    char path[64];
    network *net;

    (void)snprintf(text, size, "%s%s", head, tail);
    (void)snprintf(path, sizeof path, "%s", folder_file(&folder, "x.cfg"));
    folder_write(path, text, strlen(text));
    srand(7);
    net = parse_network_cfg(path);
    return net;
}

static void train(network *net, int from, int to)
{
    for (int step = from; step < to; step++) {
        ddp_synthetic_fill(net, 3, (uint64_t)(4 * step));
        (void)train_network_datum(net);
    }
}

static ddp_checkpoint_run run_of(const char *cfg)
{
    ddp_checkpoint_run run = {.device = ddp_device_host(),
                              .base = "toy",
                              .cfg = cfg,
                              .cfg_bytes = strlen(cfg),
                              .seed = 5,
                              .list_count = 10,
                              .list_hash = 1,
                              .ranks = 1};
    ddp_checkpoint_metadata metadata = {0};
    ddp_error err;

    assert_int_equal(ddp_checkpoint_add_option(&metadata, "exact", "off", &err), DDP_OK);
    memcpy(run.options, metadata.options, sizeof run.options);
    run.option_count = metadata.option_count;
    return run;
}

static void save_network(network *net, const char *cfg)
{
    ddp_checkpoint_run run = run_of(cfg);
    ddp_error err;

    net->average_loss = 0.3F;
    if (ddp_checkpoint_save(net, folder_file(&folder, "toy.backup"), net->n, &run, &err))
        fail_msg("%s", err.text);
    assert_greater(run.saved_at_ns, 0);
}

static void resume(ddp_resumed *resumed, network *net, const char *cfg)
{
    ddp_checkpoint_run run = run_of(cfg);
    ddp_error err;

    if (ddp_checkpoint_resume(resumed, net, folder.path, &run, &listener, &err))
        fail_msg("%s", err.text);
    assert_string_equal(notes, "");
}

static void expect_same_floats(const float *a, const float *b, size_t count, const char *what)
{
    if (memcmp(a, b, count * sizeof *a) != 0)
        fail_msg("the networks' %s differ", what);
}

static void expect_same_networks(network *a, network *b)
{
    ddp_param_table x, y;
    ddp_error err;

    assert_int_equal(ddp_param_table_init(&x, a, ddp_device_host(), &err), DDP_OK);
    assert_int_equal(ddp_param_table_init(&y, b, ddp_device_host(), &err), DDP_OK);
    for (size_t i = 0; i < x.param_count; i++) {
        const ddp_param *p = &x.params[i], *q = &y.params[i];

        expect_same_floats(p->value, q->value, p->count, p->part);
        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && p->optimizer.buffer[k]; k++)
            expect_same_floats(p->optimizer.buffer[k], q->optimizer.buffer[k], p->count,
                               p->optimizer.name[k]);
    }
    for (size_t i = 0; i < x.buffer_count; i++)
        expect_same_floats(*x.buffers[i].slot, *y.buffers[i].slot, x.buffers[i].count,
                           x.buffers[i].part);
    assert_int_equal(*a->seen, *b->seen);
    assert_int_equal(*a->t, *b->t);
    ddp_param_table_release(&x);
    ddp_param_table_release(&y);
}

static void expect_exact(const char *head, const char *tail)
{
    char cfg[1024];
    network *straight = parse(head, tail, cfg, sizeof cfg), *stopped, *resumed_net;
    float average_loss;
    ddp_resumed resumed;

    train(straight, 0, 6);
    stopped = parse(head, tail, cfg, sizeof cfg);
    train(stopped, 0, 3);
    save_network(stopped, cfg);
    free_network(stopped);
    resumed_net = parse(head, tail, cfg, sizeof cfg);
    resume(&resumed, resumed_net, cfg);
    assert_string_equal(resumed.weights, folder_file(&folder, "toy.backup"));
    average_loss = resumed_net->average_loss;
    train(resumed_net, 3, 6);
    expect_same_networks(straight, resumed_net);
    assert_int_equal(resumed.metadata.step, 3);
    assert_int_equal(resumed.metadata.epoch, 1);
    assert_int_equal(resumed.metadata.position, 2);
    assert_int_equal(resumed.metadata.seed, 5);
    assert_int_equal(resumed.metadata.width, 8);
    assert_number_equal(resumed.metadata.average_loss, 0.3F);
    assert_number_equal(average_loss, 0.3F);
    ddp_resumed_release(&resumed);
    free_network(straight);
    free_network(resumed_net);
}

static void momentum_goes_on_exactly(void **state)
{
    (void)state;
    expect_exact(momentum, layers);
}

static void adam_goes_on_exactly(void **state)
{
    (void)state;
    expect_exact(adam, layers);
}

/* The weights file alone would not do. */
static void layers_that_are_saved_or_loaded_in_part_go_on_exactly(void **state)
{
    (void)state;
    expect_exact(momentum, partial);
}

static void weights_file_is_darknets_own(void **state)
{
    char cfg[1024];
    network *net = parse(momentum, layers, cfg, sizeof cfg);
    char *ours, *darknets;
    size_t our_size, darknets_size;

    (void)state;
    train(net, 0, 2);
    save_network(net, cfg);
    save_weights(net, (char *)(uintptr_t)folder_file(&folder, "own.weights"));
    ours = folder_read(folder_file(&folder, "toy.backup"), &our_size);
    darknets = folder_read(folder_file(&folder, "own.weights"), &darknets_size);
    assert_int_equal(our_size, darknets_size);
    assert_memory_equal(ours, darknets, our_size);
    free(ours);
    free(darknets);
    free_network(net);
}

static void nothing_to_resume_is_no_error(void **state)
{
    char cfg[1024];
    network *net = parse(momentum, layers, cfg, sizeof cfg);
    ddp_resumed resumed;

    (void)state;
    resume(&resumed, net, cfg);
    assert_null(resumed.weights);
    free_network(net);
}

/* The run is no longer what was saved: it is refused, and with force it goes on all the same. */
static void expect_refusal(network *net, const ddp_checkpoint_run *run, const char *want)
{
    ddp_checkpoint_run forced = *run;
    ddp_resumed resumed;
    ddp_error err;
    char text[512];

    (void)snprintf(text, sizeof text, "cannot resume from %s: %s",
                   folder_file(&folder, "toy.backup"), want);
    assert_int_equal(ddp_checkpoint_resume(&resumed, net, folder.path, run, &listener, &err),
                     DDP_ERR_MISMATCH);
    assert_string_equal(err.text, text);
    assert_null(resumed.weights);
    assert_int_equal(*net->seen, 0);
    assert_string_equal(notes, "");
    forced.force = 1;
    if (ddp_checkpoint_resume(&resumed, net, folder.path, &forced, &listener, &err))
        fail_msg("%s", err.text);
    (void)snprintf(text, sizeof text, "%s: resumed all the same: %s",
                   folder_file(&folder, "toy.backup"), want);
    assert_memory_equal(notes, text, strlen(text)); /* and what else differs */
    assert_non_null(resumed.weights);
    assert_int_equal(*net->seen, 4);
    *net->seen = 0;
    notes[0] = 0;
    ddp_resumed_release(&resumed);
}

static void what_changed_is_refused_unless_forced(void **state)
{
    char cfg[1024];
    network *net = parse(momentum, layers, cfg, sizeof cfg);
    ddp_checkpoint_run run = run_of(cfg);

    (void)state;
    train(net, 0, 1);
    save_network(net, cfg);
    *net->seen = 0;
    run.seed = 6;
    run.seed_given = 1;
    expect_refusal(net, &run, "the seed was 5, is now 6");
    run.seed_given = 0;
    (void)snprintf(run.options[0].value, sizeof run.options[0].value, "on");
    expect_refusal(net, &run, "exact was off, is now on");
    run = run_of(adam);
    expect_refusal(
        net, &run,
        "the cfg changed: [net]: learning_rate was 0.01 (line 8), is now 0.001 (line 8)");
    free_network(net);
}

static void add_rounding(ddp_checkpoint_run *run, const char *fp32)
{
    ddp_checkpoint_option *option = &run->options[run->option_count++];

    (void)snprintf(option->name, sizeof option->name, "fp32");
    (void)snprintf(option->value, sizeof option->value, "%s", fp32);
    run->rounding_count = 1;
}

/* Go on as another run would; the notes are wanted. */
static void expect_note(network *net, const ddp_checkpoint_run *run, const char *wanted)
{
    ddp_resumed resumed;
    ddp_error err;
    char text[1024];

    notes[0] = 0;
    if (ddp_checkpoint_resume(&resumed, net, folder.path, run, &listener, &err))
        fail_msg("%s", err.text);
    (void)snprintf(text, sizeof text, "%s: %s", folder_file(&folder, "toy.backup"), wanted);
    assert_string_equal(notes, *wanted ? text : "");
    assert_non_null(resumed.weights);
    ddp_resumed_release(&resumed);
}

static void another_rounding_is_said_or_refused(void **state)
{
    char cfg[1024];
    network *net = parse(momentum, layers, cfg, sizeof cfg);
    ddp_checkpoint_run run = run_of(cfg), other = run_of(cfg);
    ddp_error err;

    (void)state;
    train(net, 0, 1);
    add_rounding(&run, "yes");
    add_rounding(&other, "no");
    save_network(net, cfg); /* an older state file, which does not know of it */
    other.same_rounding = 1;
    expect_note(net, &other, "");
    other.before[other.option_count - 1] = "maybe"; /* but this is what it had */
    *net->seen = 0;
    expect_refusal(net, &other, "fp32 was maybe, is now no");
    other.same_rounding = 0;
    expect_note(net, &other, "fp32 was maybe, is now no: from here on results round differently");
    other.same_rounding = 1;
    assert_int_equal(
        ddp_checkpoint_save(net, folder_file(&folder, "toy.backup"), net->n, &run, &err), DDP_OK);
    expect_note(net, &run, "");
    *net->seen = 0;
    expect_refusal(net, &other, "fp32 was yes, is now no");
    other.same_rounding = 0;
    expect_note(net, &other, "fp32 was yes, is now no: from here on results round differently");
    other = run_of(cfg); /* a run which has no such option */
    expect_note(net, &other, "");
    free_network(net);
}

/* A state file of before there was an option, or before it was kept. */
static void an_option_that_is_not_known_is_said_and_not_refused(void **state)
{
    char cfg[1024];
    network *net = parse(momentum, layers, cfg, sizeof cfg);
    ddp_checkpoint_run run = run_of(cfg);
    ddp_checkpoint_option *option = &run.options[run.option_count];

    (void)state;
    train(net, 0, 1);
    save_network(net, cfg);
    *net->seen = 0;
    (void)snprintf(option->name, sizeof option->name, "newer");
    (void)snprintf(option->value, sizeof option->value, "none");
    run.is_default[run.option_count++] = 1;
    expect_note(net, &run, "");
    *net->seen = 0;
    (void)snprintf(option->value, sizeof option->value, "some");
    run.is_default[run.option_count - 1] = 0;
    expect_note(net, &run, "newer was not known, is now some");
    free_network(net);
}

static void another_network_is_refused_even_if_forced(void **state)
{
    char cfg[1024], other_cfg[1024];
    network *net = parse(momentum, layers, cfg, sizeof cfg), *other;
    ddp_checkpoint_run run;
    ddp_resumed resumed;
    ddp_error err;

    (void)state;
    save_network(net, cfg);
    other = parse(momentum, partial, other_cfg, sizeof other_cfg);
    run = run_of(other_cfg);
    run.force = 1;
    assert_int_equal(ddp_checkpoint_resume(&resumed, other, folder.path, &run, &listener, &err),
                     DDP_ERR_USAGE);
    assert_non_null(strstr(err.text, "the network is another one: the checkpoint has momentum of "
                                     "layer 1's biases, 4 elements"));
    free_network(net);
    free_network(other);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(momentum_goes_on_exactly),
        IN_A_FOLDER(adam_goes_on_exactly),
        IN_A_FOLDER(layers_that_are_saved_or_loaded_in_part_go_on_exactly),
        IN_A_FOLDER(weights_file_is_darknets_own),
        IN_A_FOLDER(nothing_to_resume_is_no_error),
        IN_A_FOLDER(what_changed_is_refused_unless_forced),
        IN_A_FOLDER(another_rounding_is_said_or_refused),
        IN_A_FOLDER(an_option_that_is_not_known_is_said_and_not_refused),
        IN_A_FOLDER(another_network_is_refused_even_if_forced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
