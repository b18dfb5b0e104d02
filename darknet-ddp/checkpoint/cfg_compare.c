#include "checkpoint/cfg_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A section's title, or an option. */
struct line {
    const char *key;
    const char *value; /* NULL: a title */
    int number;        /* from 1 */
};

struct cfg {
    char *text; /* without blanks; keys and values point into it */
    struct line *lines;
    size_t count;
};

struct section {
    const struct line *title;
    const struct line *options;
    size_t count;
};

/* ---- reading, as read_cfg and read_option of Darknet do ---- */

static void release(struct cfg *c)
{
    free(c->text);
    free(c->lines);
}

/* Copy text[0..bytes) without blanks to out; lines end with a zero. Returns how many. */
static size_t strip(char *out, const char *text, size_t bytes)
{
    size_t lines = 1;

    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n') {
            *out++ = 0;
            lines++;
        } else if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != 0) {
            *out++ = text[i];
        }
    }
    *out = 0;
    return lines;
}

static void add_line(struct cfg *c, char *text, int number)
{
    char *equals = strchr(text, '=');

    if (*text == 0 || *text == '#' || *text == ';')
        return;
    c->lines[c->count++] = (struct line){.key = text, .number = number};
    if (*text == '[')
        return;
    if (equals)
        *equals = 0;
    c->lines[c->count - 1].value = equals ? equals + 1 : "";
}

static ddp_status read_cfg(struct cfg *c, const char *text, size_t bytes, ddp_error *err)
{
    size_t lines;
    char *at;

    c->text = malloc(bytes + 1);
    if (!c->text)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a cfg of %zu bytes", bytes);
    lines = strip(c->text, text, bytes);
    c->lines = calloc(lines, sizeof *c->lines);
    if (!c->lines)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a cfg of %zu lines", lines);
    at = c->text;
    for (size_t i = 0; i < lines; i++) {
        char *next = at + strlen(at) + 1;

        add_line(c, at, (int)i + 1);
        at = next;
    }
    return DDP_OK;
}

/* The section that starts at line *at, which then is the next one's start. 0: none is left.
 * What stands before the first title is a section without one. */
static int next_section(const struct cfg *c, size_t *at, struct section *s)
{
    size_t start = *at, end;

    if (start == c->count)
        return 0;
    *s = (struct section){0};
    if (!c->lines[start].value)
        s->title = &c->lines[start++];
    for (end = start; end < c->count && c->lines[end].value; end++)
        ;
    s->options = &c->lines[start];
    s->count = end - start;
    *at = end;
    return 1;
}

/* ---- comparing ---- */

static const struct line *find(const struct section *s, const char *key)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->options[i].key, key) == 0)
            return &s->options[i];
    return NULL;
}

static void describe(char *out, size_t size, const char *text, const struct line *line)
{
    if (line)
        (void)snprintf(out, size, "%.100s (line %d)", text, line->number);
    else
        (void)snprintf(out, size, "not there");
}

static ddp_status differ(const struct section *s, int index, const struct line *was,
                         const struct line *now, ddp_error *err)
{
    const char *key = was ? was->key : now->key;
    char before[160], after[160], place[64] = "";

    describe(before, sizeof before, was ? was->value : "", was);
    describe(after, sizeof after, now ? now->value : "", now);
    if (index > 0)
        (void)snprintf(place, sizeof place, "layer %d, ", index - 1);
    return ddp_fail(err, DDP_ERR_MISMATCH, "the cfg changed: %s%.60s: %.60s was %s, is now %s",
                    place, s->title ? s->title->key : "before the first section", key, before,
                    after);
}

static ddp_status compare_options(const struct section *was, const struct section *now, int index,
                                  ddp_error *err)
{
    for (size_t i = 0; i < was->count; i++) {
        const struct line *before = find(was, was->options[i].key);
        const struct line *after = find(now, before->key);

        if (!after || strcmp(before->value, after->value) != 0)
            return differ(was, index, before, after, err);
    }
    for (size_t i = 0; i < now->count; i++)
        if (!find(was, now->options[i].key))
            return differ(now, index, NULL, find(now, now->options[i].key), err);
    return DDP_OK;
}

static ddp_status compare_titles(const struct line *was, const struct line *now, int index,
                                 ddp_error *err)
{
    char before[160], after[160];

    if (was == now || (was && now && strcmp(was->key, now->key) == 0))
        return DDP_OK;
    describe(before, sizeof before, was ? was->key : "", was);
    describe(after, sizeof after, now ? now->key : "", now);
    return ddp_fail(err, DDP_ERR_MISMATCH, "the cfg changed: section %d was %s, is now %s",
                    index + 1, before, after);
}

static ddp_status compare(const struct cfg *was, const struct cfg *now, ddp_error *err)
{
    size_t at_was = 0, at_now = 0;

    for (int index = 0;; index++) {
        struct section before = {0}, after = {0};
        int more = next_section(was, &at_was, &before);

        more |= next_section(now, &at_now, &after);
        if (!more)
            return DDP_OK;
        if (compare_titles(before.title, after.title, index, err)
            || compare_options(&before, &after, index, err))
            return err->code;
    }
}

ddp_status ddp_cfg_compare(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                           ddp_error *err)
{
    struct cfg before = {0}, after = {0};
    ddp_status st = read_cfg(&before, was, was_bytes, err);

    if (!st)
        st = read_cfg(&after, now, now_bytes, err);
    if (!st)
        st = compare(&before, &after, err);
    release(&before);
    release(&after);
    return st;
}
