#include "inputs/text_file.h"

#include "base/file.h"
#include "glue/darknet.h"
#include "text/line.h"

#include <stdlib.h>
#include <string.h>

static ddp_status read_text(void **text, size_t *bytes, const char *path, ddp_error *err)
{
    uint64_t size;

    if (ddp_file_read(ddp_installed_path(path), SIZE_MAX, text, bytes, &size, err))
        return err->code;
    if (*bytes > 0 && memchr(*text, 0, *bytes))
        return ddp_fail(err, DDP_ERR_FORMAT, "%s %s", path, ddp_has_zeros(*text, *bytes));
    return DDP_OK;
}

static ddp_status read_lines(ddp_lines *l, const char *path, int keeps_blank, ddp_error *err)
{
    size_t bytes, most = 1, number = 0;
    char *rest;

    if (read_text(&l->text, &bytes, path, err))
        return err->code;
    rest = l->text;
    l->has_mark = ddp_byte_order_mark(rest, bytes) > 0;
    rest += ddp_byte_order_mark(rest, bytes);
    for (const char *at = rest; *at; at++)
        most += *at == '\n';
    l->all = calloc(most, sizeof *l->all);
    l->numbers = calloc(most, sizeof *l->numbers);
    if (!l->all || !l->numbers)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the lines of %s", path);
    for (char *line; (line = strsep(&rest, "\n"));) {
        number++;
        if (!ddp_line_cut(line) && !keeps_blank)
            continue;
        l->numbers[l->count] = number;
        l->all[l->count++] = line;
    }
    return DDP_OK;
}

ddp_status ddp_lines_read(ddp_lines *l, const char *path, ddp_error *err)
{
    return read_lines(l, path, 0, err);
}

ddp_status ddp_names_read(ddp_lines *l, const char *path, ddp_error *err)
{
    if (read_lines(l, path, 1, err))
        return err->code;
    while (l->count > 0 && !ddp_line_cut(l->all[l->count - 1]))
        l->count--;
    return DDP_OK;
}

typedef ddp_status parse(ddp_cfg_text *c, const char *text, size_t bytes, ddp_error *err);

static ddp_status read_sections(ddp_sections *s, const char *path, parse *parser, ddp_error *err)
{
    size_t bytes;

    if (read_text(&s->text, &bytes, path, err))
        return err->code;
    s->has_mark = ddp_byte_order_mark(s->text, bytes) > 0;
    return parser(&s->cfg, s->text, bytes, err);
}

ddp_status ddp_sections_read(ddp_sections *s, const char *path, ddp_error *err)
{
    return read_sections(s, path, ddp_cfg_text_read, err);
}

ddp_status ddp_data_read(ddp_sections *s, const char *path, ddp_error *err)
{
    return read_sections(s, path, ddp_cfg_text_read_data, err);
}

void ddp_lines_release(ddp_lines *l)
{
    free(l->all);
    free(l->numbers);
    free(l->text);
    *l = (ddp_lines){0};
}

void ddp_sections_release(ddp_sections *s)
{
    ddp_cfg_text_release(&s->cfg);
    free(s->text);
    *s = (ddp_sections){0};
}

ddp_status ddp_sections_override(ddp_sections *s, const ddp_net_value *values, ddp_error *err)
{
    for (; values->key; values++)
        if (ddp_cfg_text_set(&s->cfg, values->key, values->value, err))
            return err->code;
    return DDP_OK;
}

const ddp_cfg_line *ddp_sections_line(const ddp_sections *s, const char *key)
{
    ddp_cfg_section section;
    size_t at = 0;

    while (ddp_cfg_next_section(&s->cfg, &at, &section)) {
        const ddp_cfg_line *line = ddp_cfg_find(&section, key);

        if (line)
            return line;
    }
    return NULL;
}

const char *ddp_sections_find(const ddp_sections *s, const char *key)
{
    const ddp_cfg_line *line = ddp_sections_line(s, key);

    return line ? line->value : NULL;
}

int ddp_sections_whole(const ddp_sections *s, const char *key, int fallback)
{
    return ddp_cfg_whole(ddp_sections_line(s, key), fallback);
}
