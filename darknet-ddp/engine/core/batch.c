#include "core/batch.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

static const ddp_option_names *named(const ddp_option_names *names)
{
    return names ? names : &ddp_plain_option_names;
}

/* Values that would work, for the end of a refusal: "a, b or c would work". */
struct advice {
    char items[4][40];
    int count;
};

static void advise(struct advice *a, const char *name, int64_t value)
{
    (void)snprintf(a->items[a->count++], sizeof a->items[0], "%s%" PRId64, name, value);
}

static void advice_text(const struct advice *a, char *text, size_t size)
{
    int used = 0;

    for (int i = 0; i < a->count; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%s",
                         i == 0              ? ""
                         : i == a->count - 1 ? " or "
                                             : ", ",
                         a->items[i]);
}

static int greatest_common_divisor(int a, int b)
{
    while (b) {
        int rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Batches work that are multiples of both subdivisions and ranks: the mini-batches
 * can then be cut down to one image if need be. */
static void advise_batches(struct advice *a, int batch, int subdivisions, int ranks)
{
    int64_t step = (int64_t)subdivisions / greatest_common_divisor(subdivisions, ranks) * ranks;
    int64_t below = batch / step * step;

    if (below > 0)
        advise(a, "batch=", below);
    if (below + step <= INT_MAX)
        advise(a, "batch=", below + step);
}

/* with: what else has to change for the advice to work, " with ..."; "": nothing. */
static ddp_status fail_rest(int batch, int subdivisions, const struct advice *a, const char *with,
                            ddp_error *err)
{
    char text[sizeof a->items + 16];

    advice_text(a, text, sizeof text);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "batch=%d is not a multiple of subdivisions=%d: %d of its images would be left "
                    "out of every step; %s%s would work",
                    batch, subdivisions, batch % subdivisions, text, with);
}

/* A number of subdivisions that is so many times as large is no advice. */
enum { NEAR = 100 };

static ddp_status refuse_rest(int batch, int subdivisions, int ranks, ddp_error *err)
{
    struct advice a = {.count = 0};
    int below = subdivisions, above = subdivisions;

    advise_batches(&a, batch, subdivisions, ranks);
    if (batch % ranks == 0) {
        while (batch % below)
            below--;
        advise(&a, "subdivisions=", below);
        while (above < batch && above / NEAR < subdivisions && batch % above)
            above++;
        if (batch % above == 0)
            advise(&a, "subdivisions=", above);
    }
    return fail_rest(batch, subdivisions, &a, "", err);
}

static ddp_status refuse_ranks(int batch, int subdivisions, int ranks,
                               const ddp_option_names *names, ddp_error *err)
{
    struct advice a = {.count = 0};
    char text[sizeof a.items + 16];

    advise_batches(&a, batch, subdivisions, ranks);
    if (batch <= INT_MAX / ranks)
        (void)snprintf(a.items[a.count++], sizeof a.items[0], "%s rank", named(names)->batch);
    advice_text(&a, text, sizeof text);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "batch=%d cannot be cut evenly over %d ranks; %s would work", batch, ranks,
                    text);
}

static ddp_status split_rank(ddp_batch *out, int batch, int subdivisions, int ranks, ddp_error *err)
{
    if (batch % subdivisions)
        return refuse_rest(batch, subdivisions, 1, err);
    if (batch > INT_MAX / ranks)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "batch=%d on each of %d ranks is more than %d images a step", batch, ranks,
                        INT_MAX);
    *out = (ddp_batch){.batch = batch * ranks,
                       .subdivisions = subdivisions * ranks,
                       .per_rank = subdivisions,
                       .images = batch / subdivisions,
                       .time_steps = 1};
    return DDP_OK;
}

static ddp_status split_global(ddp_batch *out, int batch, int subdivisions, int ranks,
                               const ddp_option_names *names, ddp_error *err)
{
    /* The fewest parts of a mini-batch that make their number a multiple of ranks. */
    int parts = ranks / greatest_common_divisor(subdivisions, ranks);

    if (batch % subdivisions)
        return refuse_rest(batch, subdivisions, ranks, err);
    if (batch % ranks)
        return refuse_ranks(batch, subdivisions, ranks, names, err);
    *out = (ddp_batch){.batch = batch,
                       .subdivisions = subdivisions * parts,
                       .per_rank = subdivisions * parts / ranks,
                       .images = batch / subdivisions / parts,
                       .resplit = parts > 1,
                       .time_steps = 1};
    return DDP_OK;
}

ddp_status ddp_batch_split(ddp_batch *out, int batch, int subdivisions, int ranks,
                           ddp_batch_mode mode, const ddp_option_names *names, ddp_error *err)
{
    *out = (ddp_batch){0};
    if (batch < 1 || subdivisions < 1)
        return ddp_fail(err, DDP_ERR_USAGE, "batch=%d subdivisions=%d: both must be at least 1",
                        batch, subdivisions);
    if (mode == DDP_BATCH_RANK)
        return split_rank(out, batch, subdivisions, ranks, err);
    return split_global(out, batch, subdivisions, ranks, names, err);
}

static int is_power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

static int power_of_two_below(int n)
{
    int power = 1;

    while (power <= n / 2)
        power *= 2;
    return power;
}

/* "1, 2 or 4", as far as `most`, itself a power of two. */
static void powers_text(int most, char *text, size_t size)
{
    int used = 0;

    for (int64_t n = 1; n <= most; n *= 2)
        used += snprintf(text + used, size - (size_t)used, "%s%" PRId64,
                         n == 1      ? ""
                         : n == most ? " or "
                                     : ", ",
                         n);
}

/* ---- what an exact run cannot have, each with all that has to change ---- */

/* Collect the options that change how a step is summed: "batch mode global" for each that is in the
 * way. */
static int wanted_options(const ddp_exact_run *run, char (*items)[64], int say_what_is)
{
    const ddp_option_names *names = named(run->names);
    int count = 0;

    if (run->mode != DDP_BATCH_GLOBAL)
        (void)snprintf(items[count++], sizeof items[0], "%s global%s", names->batch,
                       say_what_is ? ", not rank" : "");
    if (run->sync_every != 1 && say_what_is)
        (void)snprintf(items[count++], sizeof items[0], "%s 1, not %d", names->sync_every,
                       run->sync_every);
    else if (run->sync_every != 1)
        (void)snprintf(items[count++], sizeof items[0], "%s 1", names->sync_every);
    if (!run->broadcast_buffers)
        (void)snprintf(items[count++], sizeof items[0], "%s step%s", names->buffers,
                       say_what_is ? ", not save" : "");
    return count;
}

/* " with 2 ranks, batch mode global and sync_every 1", or nothing. ranks 0: they stay. */
static void with_text(const ddp_exact_run *run, int ranks, char *text, size_t size)
{
    char items[4][64];
    int count = 0, used = 0;

    if (ranks && ranks != run->ranks)
        (void)snprintf(items[count++], sizeof items[0], "%d rank%s", ranks, ranks == 1 ? "" : "s");
    count += wanted_options(run, items + count, 0);
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%s",
                         i == 0           ? " with "
                         : i == count - 1 ? " and "
                                          : ", ",
                         items[i]);
}

/* The largest power of two that divides n. */
static int power_in(int n)
{
    return n & -n;
}

/* Subdivisions are no power of two: the nearest powers that divide batch, with at most as
 * many ranks as they allow. */
static ddp_status refuse_subdivisions(const ddp_exact_run *run, ddp_error *err)
{
    int divides = power_in(run->batch);
    int ranks = power_of_two_below(run->ranks);
    int below = power_of_two_below(run->subdivisions), above;
    struct advice a = {.count = 0};
    char text[sizeof a.items + 16], with[160];

    if (ranks > divides)
        ranks = divides;
    if (below > divides)
        below = divides;
    above = below < divides ? below * 2 : below;
    if (below >= ranks)
        advise(&a, "subdivisions=", below);
    if (above > below || below < ranks)
        advise(&a, "subdivisions=", above < ranks ? ranks : above);
    advice_text(&a, text, sizeof text);
    with_text(run, ranks, with, sizeof with);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%s wants a power of two for subdivisions, not %d; %s%s would work",
                    named(run->names)->exact, run->subdivisions, text, with);
}

/* Subdivisions are a power of two that does not divide batch: the nearest batches, and the largest
 * power that does, with at most as many ranks as subdivisions allow. */
static ddp_status refuse_exact_rest(const ddp_exact_run *run, ddp_error *err)
{
    int ranks = power_of_two_below(run->ranks);
    struct advice a = {.count = 0};
    char with[160];

    if (ranks > run->subdivisions)
        ranks = run->subdivisions;
    advise_batches(&a, run->batch, run->subdivisions, 1);
    if (power_in(run->batch) >= ranks)
        advise(&a, "subdivisions=", power_in(run->batch));
    with_text(run, ranks, with, sizeof with);
    return fail_rest(run->batch, run->subdivisions, &a, with, err);
}

static ddp_status refuse_exact_ranks(const ddp_exact_run *run, ddp_error *err)
{
    char powers[160], more[40] = "", with[160];

    powers_text(run->subdivisions, powers, sizeof powers);
    if (is_power_of_two(run->ranks) && run->batch % run->ranks == 0)
        (void)snprintf(more, sizeof more, ", or set subdivisions=%d", run->ranks);
    with_text(run, 0, with, sizeof with);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%s with %d ranks: use %s for the cfg's %d subdivision%s%s%s%s",
                    named(run->names)->exact, run->ranks, powers, run->subdivisions,
                    run->subdivisions == 1 ? "" : "s", more, with[0] ? "," : "", with);
}

static ddp_status check_options(const ddp_exact_run *run, ddp_error *err)
{
    char items[3][64], text[256] = "";
    int count = wanted_options(run, items, 1), used = 0;

    if (count == 0)
        return DDP_OK;
    for (int i = 0; i < count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", i ? ", and with " : "",
                         items[i]);
    return ddp_fail(err, DDP_ERR_USAGE, "%s works with %s", named(run->names)->exact, text);
}

ddp_status ddp_exact_check(const ddp_exact_run *run, ddp_error *err)
{
    if (run->batch < 1 || run->subdivisions < 1)
        return DDP_OK; /* ddp_batch_split refuses them */
    if (!is_power_of_two(run->subdivisions))
        return refuse_subdivisions(run, err);
    if (run->batch % run->subdivisions)
        return refuse_exact_rest(run, err);
    if (!is_power_of_two(run->ranks) || run->ranks > run->subdivisions)
        return refuse_exact_ranks(run, err);
    return check_options(run, err);
}
