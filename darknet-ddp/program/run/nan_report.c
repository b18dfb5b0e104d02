#include "run/nan_report.h"

#include "base/plural.h"
#include "device/wire.h"
#include "trainer/plugin.h"

#include <stdio.h>

static void name_numbers(const ddp_not_finite *what, char *out, size_t size)
{
    if (what->broken == DDP_BROKEN_LOSS)
        (void)snprintf(out, size, "the loss is");
    else if (what->broken == DDP_BROKEN_STATISTICS)
        (void)snprintf(out, size, "BatchNorm's statistics are");
    else if (what->first_layer == what->last_layer)
        (void)snprintf(out, size, "the gradients of layer %d are", what->first_layer);
    else
        (void)snprintf(out, size, "the gradients of layers %d to %d are", what->first_layer,
                       what->last_layer);
}

static void name_place(const ddp_not_finite *what, char *out, size_t size)
{
    switch (what->origin) {
    case DDP_ORIGIN_INPUT:
        (void)snprintf(out, size, "the pictures");
        break;
    case DDP_ORIGIN_TRUTH:
        (void)snprintf(out, size, "the labels");
        break;
    case DDP_ORIGIN_OUTPUT:
        (void)snprintf(out, size, "the output of layer %d (%s)", what->layer, what->kind);
        break;
    case DDP_ORIGIN_DELTA:
        (void)snprintf(out, size, "the delta of layer %d (%s)", what->layer, what->kind);
        break;
    default:
        (void)snprintf(out, size, "the loss");
        break;
    }
}

/* Say on which rank, layer and array the first number was found that is not finite. */
static void name_origin(const ddp_group *group, const ddp_not_finite *what, ddp_wire wire,
                        char *out, size_t size)
{
    char place[128], alike[64] = "", why[96] = "";

    if (what->origin == DDP_ORIGIN_NONE) {
        if (ddp_wire_most(wire) > 0)
            (void)snprintf(why, sizeof why,
                           " for %s, which ends at %g: -ddp_compress bf16 does not",
                           ddp_wire_name(wire), (double)ddp_wire_most(wire));
        (void)snprintf(out, size,
                       "all outputs are finite: sums of gradients have become too large%s", why);
        return;
    }
    name_place(what, place, sizeof place);
    if (what->ranks_alike > 1)
        (void)snprintf(alike, sizeof alike, ", as on %d of %d ranks", what->ranks_alike,
                       ddp_group_size(group));
    (void)snprintf(out, size, "first %s of rank %d (host %s), mini-batch %d%s", place, what->rank,
                   ddp_group_host(group, what->rank), what->mini_batch, alike);
}

static void print_pictures(const ddp_not_finite *what)
{
    if (what->origin == DDP_ORIGIN_NONE)
        return;
    for (size_t i = 0; i < what->samples; i++) {
        size_t line;
        const char *path = ddp_plugin_sample_path(what->sample + i, &line);

        if (path)
            printf("DDP:   line %zu of the training list, %s\n", line, path);
    }
}

void ddp_nan_report_skipped(const ddp_group *group, const ddp_not_finite *what, ddp_wire wire)
{
    char numbers[128], origin[512];

    if (ddp_group_rank(group) != 0)
        return;
    name_numbers(what, numbers, sizeof numbers);
    name_origin(group, what, wire, origin, sizeof origin);
    printf("DDP: step %zu skipped, %d in a row: %s not finite; %s\n", what->step,
           what->skipped_in_a_row, numbers, origin);
    print_pictures(what);
}

void ddp_nan_report_error(const ddp_group *group, const ddp_not_finite *what, ddp_wire wire,
                          const char *last, ddp_error *err)
{
    char numbers[128], origin[256], skipped[64] = "";

    if (what->skipped_in_a_row > 0)
        (void)snprintf(skipped, sizeof skipped, " after %d step%s that were skipped",
                       what->skipped_in_a_row, ddp_plural((size_t)what->skipped_in_a_row));
    name_numbers(what, numbers, sizeof numbers);
    name_origin(group, what, wire, origin, sizeof origin);
    (void)ddp_fail(err, DDP_ERR_FORMAT,
                   "step %zu%s: %s not finite; %s. %s%.150s; a lower learning_rate may help, or %s"
                   "-ddp_on_nan skip N",
                   what->step, skipped, numbers, origin,
                   last ? "The last good weights are " : "No weights were saved before",
                   last ? last : "", what->skipped_in_a_row > 0 ? "a larger " : "");
    if (ddp_group_rank(group) != 0)
        return;
    if (what->origin != DDP_ORIGIN_NONE)
        printf("DDP: step %zu, pictures of mini-batch %d of rank %d:\n", what->step,
               what->mini_batch, what->rank);
    print_pictures(what);
}
