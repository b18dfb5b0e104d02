#include "cli/cfg_edit.h"

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

/* What stands behind "KEY =" in the line; NULL: it is of another key. */
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
        (void)snprintf(value, size, "%.*s", (int)strcspn(found, "\r\n"), found);
        return 1;
    }
    return 0;
}
