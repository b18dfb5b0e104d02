#include "base/cfg_text.h"

#include "text/line.h"
#include "text/numbers.h"

#include <stdlib.h>
#include <string.h>

/* Copy text[0..bytes) to out, each line ended by a zero. Returns the number of lines. */
static size_t split(char *out, const char *text, size_t bytes)
{
    size_t lines = 1;

    for (size_t i = ddp_byte_order_mark(text, bytes); i < bytes; i++) {
        if (text[i] == '\n')
            lines++;
        if (text[i] != 0)
            *out++ = (char)(text[i] == '\n' ? 0 : text[i]);
    }
    *out = 0;
    return lines;
}

static void add_line(ddp_cfg_text *c, char *text, int is_cfg, int number)
{
    int lacks_comma = is_cfg && ddp_line_lacks_comma(text);
    char *value;
    ddp_line_kind kind = ddp_line_split(text, is_cfg, &value);

    if (kind == DDP_LINE_BLANK)
        return;
    c->lines[c->count++] =
        (ddp_cfg_line){.key = text, .number = number, .lacks_comma = lacks_comma};
    if (kind == DDP_LINE_OPTION)
        c->lines[c->count - 1].value = value ? value : "";
}

static ddp_status read_lines(ddp_cfg_text *c, const char *text, size_t bytes, int is_cfg,
                             ddp_error *err)
{
    size_t lines;
    char *at;

    *c = (ddp_cfg_text){0};
    c->text = malloc(bytes + 1);
    if (!c->text)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a cfg of %zu bytes", bytes);
    lines = split(c->text, text, bytes);
    c->lines = calloc(lines, sizeof *c->lines);
    if (!c->lines)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a cfg of %zu lines", lines);
    at = c->text;
    for (size_t i = 0; i < lines; i++) {
        char *next = at + strlen(at) + 1;

        add_line(c, at, is_cfg, (int)i + 1);
        at = next;
    }
    return DDP_OK;
}

ddp_status ddp_cfg_text_read(ddp_cfg_text *c, const char *text, size_t bytes, ddp_error *err)
{
    return read_lines(c, text, bytes, 1, err);
}

ddp_status ddp_cfg_text_read_data(ddp_cfg_text *c, const char *text, size_t bytes, ddp_error *err)
{
    return read_lines(c, text, bytes, 0, err);
}

ddp_status ddp_cfg_text_set(ddp_cfg_text *c, const char *key, const char *value, ddp_error *err)
{
    size_t first = c->count > 0 && !c->lines[0].value ? 1 : 0, i = first;
    int number = first ? c->lines[0].number : 1;
    ddp_cfg_line *lines;

    for (; i < c->count && c->lines[i].value; i++)
        if (strcmp(c->lines[i].key, key) == 0) {
            c->lines[i].value = value;
            return DDP_OK;
        }
    lines = reallocarray(c->lines, c->count + 1, sizeof *lines);
    if (!lines)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s= of a cfg", key);
    c->lines = lines;
    memmove(&lines[first + 1], &lines[first], (c->count - first) * sizeof *lines);
    lines[first] = (ddp_cfg_line){.key = key, .value = value, .number = number};
    c->count++;
    return DDP_OK;
}

int ddp_cfg_next_section(const ddp_cfg_text *c, size_t *at, ddp_cfg_section *s)
{
    size_t start = *at, end;

    if (start == c->count)
        return 0;
    *s = (ddp_cfg_section){0};
    if (!c->lines[start].value)
        s->title = &c->lines[start++];
    for (end = start; end < c->count && c->lines[end].value; end++)
        ;
    s->options = &c->lines[start];
    s->count = end - start;
    *at = end;
    return 1;
}

void ddp_cfg_text_release(ddp_cfg_text *c)
{
    free(c->text);
    free(c->lines);
    *c = (ddp_cfg_text){0};
}

const ddp_cfg_line *ddp_cfg_find(const ddp_cfg_section *s, const char *key)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->options[i].key, key) == 0)
            return &s->options[i];
    return NULL;
}

double ddp_cfg_number(const ddp_cfg_line *line, double fallback)
{
    double value;

    return line && !ddp_number_read(line->value, &value) ? value : fallback;
}

int ddp_cfg_whole(const ddp_cfg_line *line, int fallback)
{
    int value;

    return line && !ddp_number_read_whole(line->value, &value) ? value : fallback;
}
