#include "inputs/overrides.h"

#include "base/burn_in.h"
#include "inputs/text_file.h"
#include "text/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of ddp_overrides_make. */
struct making {
    ddp_overrides *out;
    const char *path; /* the cfg's */
    const ddp_sections *cfg;
};

static void put(struct making *m, const char *key, const char *value)
{
    const char *was = ddp_sections_find(m->cfg, key);
    int i = m->out->count;

    if ((was && strcmp(was, value) == 0) || i == DDP_OVERRIDES_MOST)
        return;
    (void)snprintf(m->out->text[i], DDP_OVERRIDE_BYTES, "%s", value);
    (void)snprintf(m->out->was[i], DDP_OVERRIDE_BYTES, "%s", was ? was : "");
    m->out->values[i] = (ddp_net_value){key, m->out->text[i]};
    m->out->count++;
}

/* A number that an option gives; 0: it is not given. */
static void put_number(struct making *m, const char *key, double value)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%.9g", value);
    if (value > 0)
        put(m, key, text);
}

/* Return what is wrong with a number, or with one of a list of numbers; NULL if nothing is. */
static const char *wrong_with(const char *value, double least)
{
    do {
        double number;
        const char *wrong = ddp_numbers_next(&value, &number);

        if (wrong)
            return wrong;
        if (number < least)
            return least > 0 ? "must be positive" : "must not be negative";
    } while (*value);
    return NULL;
}

/* Fail if a value of the cfg that an option replaces or uses is no number. Other values are left to
 * whoever reads the whole cfg. */
static ddp_status check_cfg(const struct making *m, const ddp_options *o, ddp_error *err)
{
    const int is_scaled = o->cfg_batch || o->epochs > 0;
    const struct {
        const char *key;
        int is_used;
        double least;
    } keys[] = {{"batch", is_scaled, 1},
                {"max_batches", is_scaled, 0},
                {"burn_in", is_scaled, 0},
                {"steps", is_scaled, -INFINITY},
                {"step", is_scaled, -INFINITY},
                {"sgdr_cycle", is_scaled, -INFINITY},
                {"subdivisions", o->subdivisions, 1},
                {"width", o->net_width, 1},
                {"height", o->net_height, 1},
                {"learning_rate", o->learning_rate > 0, -INFINITY}};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const ddp_cfg_line *line = ddp_sections_line(m->cfg, keys[i].key);
        const char *wrong = line ? wrong_with(line->value, keys[i].least) : NULL;

        if (keys[i].is_used && wrong)
            return ddp_fail(err, DDP_ERR_FORMAT, "%s:%d: %s=%s: %s", m->path, line->number,
                            keys[i].key, line->value, wrong);
    }
    return DDP_OK;
}

static double number_of(const struct making *m, const char *key, double fallback)
{
    return ddp_cfg_number(ddp_sections_line(m->cfg, key), fallback);
}

/* A number of batches of a run that had `before`, and has `now`. What lay before the end still
 * does. */
static double scale(double number, double before, double now)
{
    double scaled = round(number * now / before);

    return number < before ? fmin(scaled, now - 1) : scaled;
}

/* Each number of a list, as a whole one of at least `least`. */
static ddp_status scale_list(struct making *m, const char *key, double before, double now,
                             double least, ddp_error *err)
{
    const char *at = ddp_sections_find(m->cfg, key);
    char text[DDP_OVERRIDE_BYTES] = "";
    double number;
    size_t used = 0;

    while (at && *at && used < sizeof text && !ddp_numbers_next(&at, &number))
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.0f", used ? "," : "",
                                 fmax(least, scale(number, before, now)) + 0.); /* no -0 */
    if (used >= sizeof text)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s= of the cfg is longer than can be scaled with max_batches=: set both "
                        "in the cfg",
                        key);
    if (used > 0)
        put(m, key, text);
    return DDP_OK;
}

/* exp has gamma to the power of the batch, sigmoid a slope of gamma a batch. */
static void scale_gamma(struct making *m, double ratio)
{
    const char *policy = ddp_sections_find(m->cfg, "policy");
    double gamma = number_of(m, "gamma", 0);

    if (!policy || gamma <= 0)
        return;
    if (strcmp(policy, "exp") == 0)
        put_number(m, "gamma", pow(gamma, 1 / ratio));
    else if (strcmp(policy, "sigmoid") == 0)
        put_number(m, "gamma", gamma / ratio);
}

static ddp_status scale_schedule(struct making *m, double batches, ddp_error *err)
{
    static const struct {
        const char *key;
        double least;
    } counts_batches[] = {{"steps", 0}, {"step", 1}, {"sgdr_cycle", 1}};
    double before = number_of(m, "max_batches", 0), burn_in = number_of(m, "burn_in", 0);

    put_number(m, "max_batches", batches);
    if (before <= 0 || before == batches)
        return DDP_OK;
    for (size_t i = 0; i < sizeof counts_batches / sizeof counts_batches[0]; i++)
        if (scale_list(m, counts_batches[i].key, before, batches, counts_batches[i].least, err))
            return err->code;
    put_number(m, "burn_in", ddp_burn_in_of(burn_in, before, batches));
    scale_gamma(m, batches / before);
    return DDP_OK;
}

/* Return how many lines the list at path has; 0 if it cannot be read. */
static size_t count_pictures(const char *path)
{
    ddp_lines list = {0};
    size_t count = 0;
    ddp_error ignored;

    if (path && !ddp_lines_read(&list, path, &ignored))
        count = list.count;
    ddp_lines_release(&list);
    return count;
}

static ddp_status make(struct making *m, const ddp_options *o, const char *list, int size,
                       ddp_error *err)
{
    double before = number_of(m, "batch", 1), batch = o->cfg_batch ? o->cfg_batch : before;
    size_t pictures = o->epochs > 0 ? count_pictures(list) : 0;
    int ranks = o->batch == DDP_BATCH_RANK ? size : 1; /* that have a batch of their own each */

    if (o->epochs > 0 && pictures == 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-epochs counts the pictures of a .data file's train=, and there are none "
                        "here: max_batches= of the cfg counts batches");
    if (check_cfg(m, o, err))
        return err->code;
    put_number(m, "batch", o->cfg_batch);
    put_number(m, "subdivisions", o->subdivisions);
    put_number(m, "width", o->net_width);
    put_number(m, "height", o->net_height);
    put_number(m, "learning_rate", o->learning_rate);
    if (o->epochs > 0) {
        m->out->epoch = (double)pictures / (batch * ranks);
        return scale_schedule(m, ceil(o->epochs * m->out->epoch), err);
    }
    if (batch != before && number_of(m, "max_batches", 0) > 0)
        return scale_schedule(m, ceil(number_of(m, "max_batches", 0) * before / batch), err);
    return DDP_OK;
}

ddp_status ddp_overrides_make(ddp_overrides *o, const ddp_options *options, const char *cfg,
                              const char *list, int size, ddp_error *err)
{
    ddp_sections sections = {0};
    struct making m = {.out = o, .path = cfg, .cfg = &sections};
    ddp_status st = ddp_sections_read(&sections, cfg, err);

    *o = (ddp_overrides){0};
    if (!st)
        st = make(&m, options, list, size, err);
    if (st)
        *o = (ddp_overrides){0};
    ddp_sections_release(&sections);
    return st;
}

int ddp_overrides_more_epochs(const ddp_overrides *o, int epochs, size_t batches)
{
    double made = fmax((double)batches, ceil(epochs * o->epoch));
    int more = 2 * epochs;

    while (o->epoch > 0 && ceil(more * o->epoch) <= made)
        more++;
    return o->epoch > 0 ? more : 0;
}

void ddp_overrides_print(FILE *out, const char *begin, const ddp_overrides *o)
{
    if (o->count == 0)
        return;
    (void)fprintf(out, "%sin place of the cfg's:", begin);
    for (int i = 0; i < o->count; i++)
        (void)fprintf(out, "%s %s=%s (%s)", i ? "," : "", o->values[i].key, o->values[i].value,
                      o->was[i][0] ? o->was[i] : "not there");
    (void)fprintf(out, "\n");
}
