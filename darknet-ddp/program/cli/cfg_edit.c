#include "cli/cfg_edit.h"

#include "base/cfg_text.h"
#include "text/line.h"
#include "text/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t line_bytes(const char *line)
{
    return strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
}

static const char *skip_blanks(const char *line)
{
    return line + strspn(line, " \t\r");
}

/* Is the line "[TITLE]"? Darknet calls [net] [network], too. */
static int is_title(const char *line, const char *title)
{
    size_t length = strlen(title);

    line = skip_blanks(line);
    if (*line != '[')
        return 0;
    if (strcmp(title, "net") == 0 && strncmp(line, "[network]", 9) == 0)
        return 1;
    return strncmp(line + 1, title, length) == 0 && line[length + 1] == ']';
}

/* Return the text behind "KEY =" in the line; NULL if the line has another key. */
static const char *value_in(const char *line, const char *key)
{
    line = skip_blanks(line);
    if (strncmp(line, key, strlen(key)) != 0)
        return NULL;
    line = skip_blanks(line + strlen(key));
    return *line == '=' ? skip_blanks(line + 1) : NULL;
}

/* In the section whose title is the line before; NULL: it has no such key. */
static const char *find(const char *line, const char *key)
{
    for (; *line && *skip_blanks(line) != '['; line += line_bytes(line))
        if (value_in(line, key))
            return value_in(line, key);
    return NULL;
}

/* The edit that is of this line of the section whose title is given. */
static const ddp_cfg_edit *edit_of(const char *title, const char *line, const ddp_cfg_edit *edits,
                                   size_t count)
{
    for (size_t i = 0; title && i < count; i++)
        if (edits[i].value && is_title(title, edits[i].section) && value_in(line, edits[i].key))
            return &edits[i];
    return NULL;
}

static void add_missing(FILE *out, const char *title, const char *rest, const ddp_cfg_edit *edits,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (edits[i].value && is_title(title, edits[i].section) && !find(rest, edits[i].key))
            (void)fprintf(out, "%s=%s\n", edits[i].key, edits[i].value);
}

char *ddp_cfg_edited(const char *text, const ddp_cfg_edit *edits, size_t count)
{
    const char *title = NULL;
    char *edited = NULL;
    size_t size, bytes;
    FILE *out = open_memstream(&edited, &size);

    if (!out)
        return NULL;
    for (; *text; text += bytes) {
        const ddp_cfg_edit *edit = edit_of(title, text, edits, count);

        bytes = line_bytes(text);
        if (edit)
            (void)fprintf(out, "%s=%s\n", edit->key, edit->value);
        else
            (void)fwrite(text, 1, bytes, out);
        if (*skip_blanks(text) == '[') {
            title = text;
            if (text[bytes - 1] != '\n')
                (void)fputc('\n', out);
            add_missing(out, title, text + bytes, edits, count);
        }
    }
    if (ferror(out) | fclose(out)) {
        free(edited);
        return NULL;
    }
    return edited;
}

int ddp_cfg_value_of(const char *text, const char *section, const char *key, char *value,
                     size_t size)
{
    const char *found;

    for (; *text; text += line_bytes(text)) {
        if (!is_title(text, section))
            continue;
        found = find(text + line_bytes(text), key);
        if (!found)
            return 0;
        (void)snprintf(value, size, "%.*s", (int)strcspn(found, "\n"), found);
        ddp_line_squeeze(value);
        return 1;
    }
    return 0;
}

/* Return the number at `value`, a line's rest; `otherwise` if it is NULL or no whole number. */
static int number_at(const char *value, int otherwise)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%.*s", value ? (int)strcspn(value, "\n") : 0,
                   value ? value : "");
    ddp_line_squeeze(text);
    return ddp_cfg_whole(&(ddp_cfg_line){.value = text}, otherwise);
}

int ddp_cfg_number_of(const char *text, const char *section, const char *key, int otherwise)
{
    char value[64];

    return ddp_cfg_value_of(text, section, key, value, sizeof value) ? number_at(value, otherwise)
                                                                     : otherwise;
}

/* ---- classes ---- */

/* The title behind this one, or the text's end. */
static const char *next_title(const char *title)
{
    do
        title += line_bytes(title);
    while (*title && *skip_blanks(title) != '[');
    return title;
}

static int number_in(const char *title, const char *key, int otherwise)
{
    return number_at(find(title + line_bytes(title), key), otherwise);
}

static int count_mask(const char *title)
{
    const char *mask = find(title + line_bytes(title), "mask");
    char text[256];

    if (!mask)
        return number_in(title, "num", 1);
    (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(mask, "\n"), mask);
    ddp_line_squeeze(text);
    return ddp_numbers_count(text);
}

/* Return how many filters the layer before this section must have; 0 if the section is no head. */
static int filters_for(const char *title, int classes)
{
    if (is_title(title, "yolo"))
        return count_mask(title) * (classes + 5);
    if (is_title(title, "region"))
        return number_in(title, "num", 1) * (classes + number_in(title, "coords", 4) + 1);
    return 0;
}

/* A section up to the next, with another value of one key. */
static void write_section(FILE *out, const char *at, const char *end, const char *key, int value)
{
    for (size_t bytes; at < end; at += bytes) {
        bytes = line_bytes(at);
        if (key && value_in(at, key))
            (void)fprintf(out, "%s=%d\n", key, value);
        else
            (void)fwrite(at, 1, bytes, out);
    }
}

char *ddp_cfg_with_classes(const char *text, int classes, int *heads)
{
    char *edited = NULL;
    size_t size;
    FILE *out = open_memstream(&edited, &size);

    *heads = 0;
    if (!out)
        return NULL;
    for (const char *end; *text; text = end) {
        int is_head, filters;

        end = next_title(text);
        is_head = filters_for(text, classes) > 0;
        filters = is_title(text, "convolutional") || is_title(text, "conv")
                      ? filters_for(end, classes)
                      : 0;
        *heads += is_head;
        write_section(out, text, end,
                      is_head   ? "classes"
                      : filters ? "filters"
                                : NULL,
                      is_head ? classes : filters);
    }
    if (ferror(out) | fclose(out)) {
        free(edited);
        return NULL;
    }
    return edited;
}
