#include "checkpoint/cfg_compare.h"

#include "base/cfg_text.h"

#include <stdio.h>
#include <string.h>

static void describe(char *out, size_t size, const char *text, const ddp_cfg_line *line)
{
    if (line)
        (void)snprintf(out, size, "%.100s (line %d)", text, line->number);
    else
        (void)snprintf(out, size, "not there");
}

/* Who is told of the differences; with hear NULL the first one is an error. */
struct comparison {
    ddp_cfg_difference *hear;
    void *ctx;
};

/* Tell who hears of the difference that `why` describes; if nobody does, fail with it. */
static ddp_status judge(const struct comparison *c, const ddp_error *why, ddp_error *err)
{
    if (c->hear) {
        c->hear(c->ctx, why->text);
        return DDP_OK;
    }
    *err = *why;
    return err->code;
}

static ddp_status differ(const struct comparison *c, const ddp_cfg_section *s, int index,
                         const ddp_cfg_line *was, const ddp_cfg_line *now, ddp_error *err)
{
    const char *key = was ? was->key : now->key;
    char before[160], after[160], place[64] = "";
    ddp_error why;

    describe(before, sizeof before, was ? was->value : "", was);
    describe(after, sizeof after, now ? now->value : "", now);
    if (index > 0)
        (void)snprintf(place, sizeof place, "layer %d, ", index - 1);
    (void)ddp_fail(&why, DDP_ERR_MISMATCH, "the cfg changed: %s%.60s: %.60s was %s, is now %s",
                   place, s->title ? s->title->key : "before the first section", key, before,
                   after);
    return judge(c, &why, err);
}

static ddp_status compare_options(const struct comparison *c, const ddp_cfg_section *was,
                                  const ddp_cfg_section *now, int index, ddp_error *err)
{
    for (size_t i = 0; i < was->count; i++) {
        const ddp_cfg_line *before = &was->options[i];
        const ddp_cfg_line *after = ddp_cfg_find(now, before->key);

        if (ddp_cfg_find(was, before->key) != before)
            continue;
        if ((!after || strcmp(before->value, after->value) != 0)
            && differ(c, was, index, before, after, err))
            return err->code;
    }
    for (size_t i = 0; i < now->count; i++) {
        const ddp_cfg_line *after = &now->options[i];

        if (!ddp_cfg_find(was, after->key) && ddp_cfg_find(now, after->key) == after
            && differ(c, now, index, NULL, after, err))
            return err->code;
    }
    return DDP_OK;
}

static int same_titles(const ddp_cfg_line *was, const ddp_cfg_line *now)
{
    return was == now || (was && now && strcmp(was->key, now->key) == 0);
}

static ddp_status differ_in_titles(const struct comparison *c, const ddp_cfg_line *was,
                                   const ddp_cfg_line *now, int index, ddp_error *err)
{
    char before[160], after[160];
    ddp_error why;

    describe(before, sizeof before, was ? was->key : "", was);
    describe(after, sizeof after, now ? now->key : "", now);
    (void)ddp_fail(&why, DDP_ERR_MISMATCH, "the cfg changed: section %d was %s, is now %s",
                   index + 1, before, after);
    return judge(c, &why, err);
}

static ddp_status compare(const struct comparison *c, const ddp_cfg_text *was,
                          const ddp_cfg_text *now, ddp_error *err)
{
    size_t at_was = 0, at_now = 0;

    for (int index = 0;; index++) {
        ddp_cfg_section before = {0}, after = {0};
        int more = ddp_cfg_next_section(was, &at_was, &before);

        more |= ddp_cfg_next_section(now, &at_now, &after);
        if (!more)
            return DDP_OK;
        if (!same_titles(before.title, after.title))
            return differ_in_titles(c, before.title, after.title, index, err);
        if (compare_options(c, &before, &after, index, err))
            return err->code;
    }
}

ddp_status ddp_cfg_compare(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                           ddp_cfg_difference *hear, void *ctx, ddp_error *err)
{
    const struct comparison c = {.hear = hear, .ctx = ctx};
    ddp_cfg_text before = {0}, after = {0};
    ddp_status st = ddp_cfg_text_read(&before, was, was_bytes, err);

    if (!st)
        st = ddp_cfg_text_read(&after, now, now_bytes, err);
    if (!st)
        st = compare(&c, &before, &after, err);
    ddp_cfg_text_release(&before);
    ddp_cfg_text_release(&after);
    return st;
}
