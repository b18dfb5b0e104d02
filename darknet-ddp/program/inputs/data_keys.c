#include "inputs/data_keys.h"

#include "base/suggest.h"
#include "text/numbers.h"

#include <string.h>

/* The keys that Darknet's commands, ours, and those of later forks read of a .data file. */
static const char *const keys[] = {"train",  "valid", "test", "classes",  "names", "labels",
                                   "backup", "map",   "tree", "leaves",   "top",   "results",
                                   "eval",   "tag",   "max",  "difficult"};

int ddp_data_is_key(const char *word)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(word, keys[i]) == 0)
            return 1;
    return 0;
}

/* Return Darknet's name of a key that other programs name otherwise, else key itself. */
static const char *own_name(const char *key)
{
    static const char *const names[][2] = {{"val", "valid"},
                                           {"validation", "valid"},
                                           {"nc", "classes"},
                                           {"num_classes", "classes"},
                                           {"save_dir", "backup"}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(key, names[i][0]) == 0)
            return names[i][1];
    return key;
}

/* The first option from line *at on that nobody reads; NULL: there is none. *at: the line behind
 * it. *near: what may have been meant. */
static const ddp_cfg_line *next_unknown(const ddp_sections *data, size_t *at, ddp_suggest *near)
{
    while (*at < data->cfg.count) {
        const ddp_cfg_line *line = &data->cfg.lines[(*at)++];

        if (!line->value || ddp_data_is_key(line->key))
            continue;
        *near = (ddp_suggest){.word = own_name(line->key)};
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            ddp_suggest_try(near, keys[k]);
        return line;
    }
    return NULL;
}

enum { MOST = 1000000 };

const ddp_cfg_line *ddp_data_bad_number(const ddp_sections *data, const char **wrong)
{
    static const char *const numbers[] = {"classes", "top", "tag"};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const ddp_cfg_line *line = ddp_sections_line(data, numbers[i]);
        int value;

        if (!line)
            continue;
        *wrong = ddp_number_read_whole(line->value, &value);
        if (!*wrong && value < 1 && strcmp(line->key, "tag") != 0)
            *wrong = "must be at least 1";
        if (!*wrong && value > MOST)
            *wrong = "more than 1000000";
        if (*wrong)
            return line;
    }
    return NULL;
}

ddp_status ddp_data_check_numbers(const ddp_sections *data, const char *path, ddp_error *err)
{
    const char *wrong;
    const ddp_cfg_line *line = ddp_data_bad_number(data, &wrong);

    if (!line)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "%s:%d: %s=%s: %s", path, line->number, line->key,
                    line->value, wrong);
}

/* The line before this one that has its key; NULL: none. */
static const ddp_cfg_line *earlier(const ddp_sections *data, const ddp_cfg_line *line)
{
    for (const ddp_cfg_line *l = data->cfg.lines; l < line; l++)
        if (l->value && strcmp(l->key, line->key) == 0)
            return l;
    return NULL;
}

ddp_status ddp_data_check_twice(const ddp_sections *data, const char *path, ddp_error *err)
{
    for (size_t i = 0; i < data->cfg.count; i++) {
        const ddp_cfg_line *line = &data->cfg.lines[i], *first = earlier(data, line);

        if (line->value && first)
            return ddp_fail(err, DDP_ERR_USAGE,
                            "%s:%d: %s=%s: line %d has this key, too (%s=%s); one of them is to go",
                            path, line->number, line->key, line->value, first->number, first->key,
                            first->value);
    }
    return DDP_OK;
}

ddp_status ddp_data_check_keys(const ddp_sections *data, const char *path, size_t *at,
                               ddp_error *err)
{
    ddp_suggest near;
    const ddp_cfg_line *unknown = next_unknown(data, at, &near);
    char text[DDP_SUGGEST_TEXT];

    if (!unknown)
        return DDP_OK;
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "%s:%d: %s%s%s: no key of a .data file%s; -allow_unknown_keys goes on without it", path,
        unknown->number, unknown->key, *unknown->value ? "=" : "", unknown->value,
        ddp_suggest_text(&near, text));
}
