#include "check/training_values.h"

#include "check/cfg_end.h"
#include "text/numbers.h"

#include <string.h>

static const double most_scale = 10.5; /* YOLOv1's cfgs rise to ten times */

/* Return the line of max_batches=; NULL: the run has no known end. */
static const ddp_cfg_line *length_of(const ddp_cfg_section *net)
{
    const ddp_cfg_line *line = ddp_cfg_find(net, "max_batches");

    return ddp_cfg_whole(line, 0) > 0 ? line : NULL;
}

/* Add a warning for a run without an end. A detector without max_batches= is refused elsewhere. */
static void check_length(ddp_faults *f, const char *path, const ddp_cfg_text *cfg,
                         const ddp_cfg_section *net)
{
    if (!length_of(net) && !ddp_cfg_end_of(cfg).head)
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-length", path, 0,
                      "max_batches= is %s: the run has no end",
                      ddp_cfg_find(net, "max_batches") ? "0" : "not there");
}

/* Check steps=. Without its policy it changes nothing. A step below the one before counts when that
 * one does, and a step that the run does not reach never does. */
static void check_steps(ddp_faults *f, const char *path, const ddp_cfg_section *net)
{
    const ddp_cfg_line *steps = ddp_cfg_find(net, "steps"), *policy = ddp_cfg_find(net, "policy"),
                       *length = length_of(net);
    const int end = ddp_cfg_whole(length, 0); /* 0: none is known */
    double before = -1, step;

    if (!steps)
        return;
    if (!policy || strcmp(policy->value, "steps") != 0) {
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, steps->number,
                      "steps=%s: counts with policy=steps alone, and policy is %s", steps->value,
                      policy ? policy->value : "constant");
        return;
    }
    for (const char *at = steps->value; *at && !ddp_numbers_next(&at, &step); before = step) {
        if (step >= 0 && step <= 1 && step > before) /* -1 is YOLOv2's, and undone by its next */
            ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, steps->number,
                          "steps=%s: at %.15g the rate changes before the first batch",
                          steps->value, step);
        if (step < before)
            ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, steps->number,
                          "steps=%s: %.15g comes after %.15g", steps->value, step, before);
        if (length && before < end && step >= end)
            ddp_fault_add(
                f, DDP_FAULT_WARNING, "cfg-rate", path, steps->number,
                step > end ? "steps=%s: max_batches=%s ends the run before %.15g, at which the "
                             "rate would change"
                           : "steps=%s: max_batches=%s ends the run at %.15g, so the rate changes "
                             "for its last batch alone",
                steps->value, length->value, step);
    }
}

/* Check scales=: each multiplies the rate as the ones before it have left it. */
static void check_scales(ddp_faults *f, const char *path, const ddp_cfg_section *net)
{
    const ddp_cfg_line *scales = ddp_cfg_find(net, "scales"), *policy = ddp_cfg_find(net, "policy");
    double product = 1, most = 1, factor;

    if (!scales || !policy || strcmp(policy->value, "steps") != 0)
        return;
    for (const char *at = scales->value; *at && !ddp_numbers_next(&at, &factor);) {
        product *= factor;
        if (product > most)
            most = product;
    }
    if (most > most_scale)
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, scales->number,
                      "scales=%s: the rate rises to %g times learning_rate; each scale multiplies "
                      "it, and .1 is usual",
                      scales->value, most);
}

static void check_rate(ddp_faults *f, const char *path, const ddp_cfg_section *net)
{
    const ddp_cfg_line *rate = ddp_cfg_find(net, "learning_rate"),
                       *burn_in = ddp_cfg_find(net, "burn_in"), *length = length_of(net);
    const int warmed = ddp_cfg_whole(burn_in, 0), end = ddp_cfg_whole(length, 0);

    if (ddp_cfg_number(rate, 1) == 0)
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, rate->number,
                      "learning_rate=%s: nothing would be learnt", rate->value);
    if (burn_in && length && warmed >= end)
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, burn_in->number,
                      warmed > end
                          ? "burn_in=%s: with max_batches=%s the rate never rises to learning_rate"
                          : "burn_in=%s: with max_batches=%s the rate rises to learning_rate for "
                            "the last batch alone",
                      burn_in->value, length->value);
    check_steps(f, path, net);
    check_scales(f, path, net);
}

static void check_batch_of_one(ddp_faults *f, const char *path, const ddp_cfg_section *net)
{
    const ddp_cfg_line *batch = ddp_cfg_find(net, "batch");

    if (!batch)
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-batch", path, 0,
                      "[net] has no batch=, so the weights change after each picture");
    else if (ddp_cfg_whole(batch, 1) == 1)
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-batch", path, batch->number,
                      "batch=1: the weights change after each picture");
}

static void check_amounts(ddp_faults *f, const char *path, const ddp_cfg_section *net)
{
    static const struct {
        const char *key;
        double most;
        const char *why;
    } amounts[] = {
        {"hue", 1, "a share of the colour circle, and .1 is usual"},
        {"saturation", 10, "colours are as many times stronger or weaker, and 1.5 is usual"},
        {"exposure", 10, "pictures are as many times brighter or darker, and 1.5 is usual"},
        {"decay", .1,
         "the weights shrink by this share of the rate at each step, and .0005 is usual"},
    };

    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        const ddp_cfg_line *line = ddp_cfg_find(net, amounts[i].key);

        if (ddp_cfg_number(line, 0) > amounts[i].most)
            ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-value", path, line->number, "%s=%s: %s",
                          line->key, line->value, amounts[i].why);
    }
}

/* Check a detector's keys that change the pictures of classifiers alone. */
static void check_detector(ddp_faults *f, const char *path, const ddp_cfg_section *net)
{
    static const struct {
        const char *key;
        double nothing; /* the value that changes no picture */
    } keys[] = {{"angle", 0}, {"aspect", 1}, {"min_crop", 0}, {"max_crop", 0}};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const ddp_cfg_line *line = ddp_cfg_find(net, keys[i].key);

        if (ddp_cfg_number(line, keys[i].nothing) != keys[i].nothing)
            ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-value", path, line->number,
                          "%s=%s: counts for classifiers alone; jitter= of a detection layer "
                          "crops and stretches a detector's pictures",
                          line->key, line->value);
    }
}

/* ---- what comes before the loss ---- */

static int is(const ddp_cfg_section *s, const char *const *titles)
{
    while (*titles && !(s->title && strcmp(s->title->key, *titles) == 0))
        titles++;
    return *titles != NULL;
}

/* Check the activation before a loss. [yolo] applies what it needs, and [softmax] makes chances: if
 * a layer has squeezed its input between 0 and 1 before, little is left. Darknet's own classifiers
 * have leaky there. */
static void check_activation(ddp_faults *f, const char *path, const ddp_cfg_section *layer,
                             const ddp_cfg_section *loss, int is_detector)
{
    const ddp_cfg_line *line = ddp_cfg_find(layer, "activation"),
                       *new_coords = ddp_cfg_find(loss, "new_coords");
    const char *activation = line ? line->value : "logistic";

    if (strcmp(activation, "linear") == 0 || (!is_detector && strcmp(activation, "logistic") != 0)
        || ddp_cfg_whole(new_coords, 0))
        return;
    ddp_fault_add(
        f, DDP_FAULT_WARNING, "cfg-activation", path, line ? line->number : layer->title->number,
        line ? "activation=%s: linear is wanted in front of %s"
             : "this layer has no activation=, so it is %s: linear is wanted in front of %s",
        activation, loss->title->key);
}

static void check_losses(ddp_faults *f, const char *path, const ddp_cfg_text *cfg)
{
    static const char *const layers[] = {"[convolutional]", "[conv]", "[connected]", "[conn]",
                                         NULL};
    static const char *const heads[] = {"[yolo]", "[region]", "[detection]", NULL};
    static const char *const softmax[] = {"[softmax]", "[soft]", NULL};
    ddp_cfg_section s, layer = {0};

    for (size_t at = 0; ddp_cfg_next_section(cfg, &at, &s);) {
        if (layer.title && (is(&s, heads) || is(&s, softmax)))
            check_activation(f, path, &layer, &s, is(&s, heads));
        if (is(&s, layers))
            layer = s;
    }
}

/* Check for commas at the end of lists, and for keys that stand twice: the first counts. */
static void check_lines(ddp_faults *f, const char *path, const ddp_cfg_section *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const ddp_cfg_line *line = &s->options[i], *first = ddp_cfg_find(s, line->key);

        if (ddp_numbers_end_in_comma(line->value))
            ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-comma", path, line->number,
                          "%s=%s: the comma at the end counts for nothing", line->key, line->value);
        if (first != line)
            ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-twice", path, line->number,
                          "%s=%s: line %d has this key, too, and %s=%s counts", line->key,
                          line->value, first->number, first->key, first->value);
    }
}

void ddp_check_training_values(ddp_faults *f, const char *path, const ddp_cfg_text *cfg)
{
    ddp_cfg_section s;

    for (size_t at = 0, number = 0; ddp_cfg_next_section(cfg, &at, &s); number++) {
        if (number == 0) {
            check_batch_of_one(f, path, &s);
            check_amounts(f, path, &s);
            check_rate(f, path, &s);
            check_length(f, path, cfg, &s);
            if (ddp_cfg_end_of(cfg).head)
                check_detector(f, path, &s);
        }
        check_lines(f, path, &s);
    }
    check_losses(f, path, cfg);
}
