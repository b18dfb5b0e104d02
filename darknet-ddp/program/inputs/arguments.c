#include "inputs/arguments.h"

#include "base/suggest.h"

#include <string.h>

/* What Darknet's commands and ours read of a .data file, and what later forks do. */
static const char *const keys[] = {"train",  "valid", "test", "classes",  "names", "labels",
                                   "backup", "map",   "tree", "leaves",   "top",   "results",
                                   "eval",   "tag",   "max",  "difficult"};

static int is_key(const char *word)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(word, keys[i]) == 0)
            return 1;
    return 0;
}

const ddp_cfg_line *ddp_arguments_unknown_key(const ddp_sections *data, ddp_suggest *near)
{
    for (size_t i = 0; i < data->cfg.count; i++) {
        const ddp_cfg_line *line = &data->cfg.lines[i];

        if (!line->value || is_key(line->key))
            continue;
        *near = (ddp_suggest){.word = line->key};
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            ddp_suggest_try(near, keys[k]);
        return line;
    }
    return NULL;
}

static ddp_status check_keys(const ddp_sections *data, const char *path, ddp_error *err)
{
    ddp_suggest near;
    const ddp_cfg_line *unknown = ddp_arguments_unknown_key(data, &near);
    char text[DDP_NEAR_TEXT];

    if (!unknown)
        return DDP_OK;
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "%s:%d: %s=%s: no key of a .data file%s; -allow_unknown_keys goes on without it", path,
        unknown->number, unknown->key, unknown->value, ddp_suggest_text(&near, text));
}

static const ddp_cfg_line *first_line(const ddp_sections *file)
{
    return file->cfg.count > 0 ? &file->cfg.lines[0] : NULL;
}

static ddp_status check_data(const ddp_sections *data, const char *path, int allow_unknown,
                             ddp_error *err)
{
    const ddp_cfg_line *first = first_line(data);

    if (!first)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s is empty: a .data file has train=, names= and so on", path);
    if (!first->value)
        return ddp_fail(
            err, DDP_ERR_USAGE,
            "%s is no .data file (it begins with %s): the .data file comes before the cfg", path,
            first->key);
    if (!allow_unknown && check_keys(data, path, err))
        return err->code;
    if (!ddp_sections_find(data, "train"))
        return ddp_fail(err, DDP_ERR_USAGE, "%s has no train=, the list of pictures", path);
    return DDP_OK;
}

static ddp_status check_cfg(const ddp_sections *cfg, const char *path, ddp_error *err)
{
    const ddp_cfg_line *first = first_line(cfg);

    if (!first || !first->value || !is_key(first->key))
        return DDP_OK; /* what is wrong with a cfg Darknet says, with its line */
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%s is no cfg (it begins with %s=%s): the .data file comes before the cfg",
                    path, first->key, first->value);
}

ddp_status ddp_arguments_check(const char *command, const char *data, const char *cfg,
                               int allow_unknown, ddp_error *err)
{
    ddp_sections file = {0};
    ddp_error ignored;
    ddp_status st = DDP_OK;

    if (!command || (strcmp(command, "detector") != 0 && strcmp(command, "classifier") != 0))
        return DDP_OK;
    if (data && !ddp_sections_read(&file, data, &ignored))
        st = check_data(&file, data, allow_unknown, err);
    ddp_sections_release(&file);
    file = (ddp_sections){0};
    if (!st && cfg && !ddp_sections_read(&file, cfg, &ignored))
        st = check_cfg(&file, cfg, err);
    ddp_sections_release(&file);
    return st;
}
