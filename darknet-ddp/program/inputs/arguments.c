#include "inputs/arguments.h"

#include "base/path.h"
#include "check/cfg_end.h"
#include "checkpoint/set_aside.h"
#include "glue/cfg.h"
#include "inputs/access.h"
#include "inputs/data_keys.h"
#include "inputs/file_kinds.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static ddp_status check_classes(const ddp_sections *data, const char *path, ddp_error *err)
{
    if (ddp_sections_find(data, "classes"))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "%s has no classes=, the number of classes", path);
}

/* Where it is not named, Darknet takes 2 of a classifier, and 20 to validate a detector. */
static int wants_classes(const ddp_arguments *a, const ddp_sections *data)
{
    if (strcmp(a->command, "detector") == 0)
        return a->validates && ddp_sections_find(data, "valid");
    return strcmp(a->command, "classifier") == 0;
}

static ddp_status check_train(const ddp_sections *data, const char *path, ddp_error *err)
{
    if (!ddp_sections_find(data, "train"))
        return ddp_fail(err, DDP_ERR_USAGE, "%s has no train=, the list of pictures", path);
    return DDP_OK;
}

static ddp_status check_data(const ddp_sections *data, const char *path, int allow_unknown,
                             ddp_error *err)
{
    size_t at = 0;

    if (ddp_kind_check_data(data, path, err)
        || (!allow_unknown && ddp_data_check_keys(data, path, &at, err))
        || ddp_data_check_twice(data, path, err) || ddp_data_check_numbers(data, path, err))
        return err->code;
    return check_train(data, path, err);
}

int ddp_arguments_has_data(const char *command)
{
    static const char *const commands[] = {"detector", "classifier", "segmenter", "isegmenter",
                                           "regressor"};

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(command, commands[i]) == 0)
            return 1;
    return 0;
}

/* ---- can they be read? ---- */

/* The file that an option of the .data file names; it may have none of that key. */
static ddp_status check_file(const ddp_arguments *a, const ddp_sections *data, const char *key,
                             ddp_error *err)
{
    const ddp_cfg_line *line = ddp_sections_line(data, key);
    char what[1024];

    if (!line)
        return DDP_OK;
    (void)snprintf(what, sizeof what, "%s:%d: %s=%s", a->data, line->number, key, line->value);
    return ddp_access_read(what, line->value, err);
}

static ddp_status check_files(const ddp_arguments *a, const ddp_sections *data, ddp_error *err)
{
    static const char *const read_by_all[] = {"train", "map", "tree"};
    int is_classifier = strcmp(a->command, "classifier") == 0;

    for (size_t i = 0; i < sizeof read_by_all / sizeof read_by_all[0]; i++)
        if (check_file(a, data, read_by_all[i], err))
            return err->code;
    if (is_classifier && !ddp_sections_whole(data, "tag", 0) && check_file(a, data, "labels", err))
        return err->code;
    if (a->validates && ddp_sections_find(data, "valid")
        && (check_file(a, data, "valid", err)
            || (is_classifier && check_file(a, data, "labels", err))))
        return err->code;
    return check_file(a, data, "names", err);
}

/* A list that is no regular file can be read once only. */
static ddp_status check_list(const ddp_arguments *a, const ddp_sections *data, const char *key,
                             ddp_error *err)
{
    const ddp_cfg_line *line = ddp_sections_line(data, key);
    ddp_lines list = {0};
    ddp_error ignored;
    int is_empty = line && !ddp_lines_read(&list, line->value, &ignored) && list.count == 0;

    ddp_lines_release(&list);
    if (!is_empty)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_FORMAT,
                    "%s:%d: %s=%s: no picture is listed there, a path in each line", a->data,
                    line->number, key, line->value);
}

/* "backup" beside the .data file. */
static void write_default(const char *data, char *folder, size_t size)
{
    (void)snprintf(folder, size, "%.*sbackup", (int)(ddp_path_name(data) - data), data);
}

static ddp_status check_backup(const ddp_arguments *a, const ddp_sections *data, ddp_error *err)
{
    const ddp_cfg_line *line = data ? ddp_sections_line(data, "backup") : NULL;
    char what[8192], folder[4096];

    if (!a->saves)
        return DDP_OK;
    if (!a->data) {
        (void)snprintf(what, sizeof what, "-backup %s", a->backup ? a->backup : "backup");
        return ddp_access_write(what, a->backup ? a->backup : "backup", err);
    }
    if (line) {
        (void)snprintf(what, sizeof what, "%s:%d: backup=%s", a->data, line->number, line->value);
        return ddp_access_write(what, line->value, err);
    }
    write_default(a->data, folder, sizeof folder);
    (void)snprintf(what, sizeof what, "%s has no backup=, so weights would be saved in %s", a->data,
                   folder);
    return ddp_access_write(what, folder, err);
}

/* Fail if trace or events cannot be written. */
static ddp_status check_outputs(const ddp_arguments *a, ddp_error *err)
{
    char what[PATH_MAX + 32];

    (void)snprintf(what, sizeof what, "-ddp_trace %s", a->trace ? a->trace : "");
    if (a->saves && a->trace && ddp_access_write_file(what, a->trace, err))
        return err->code;
    (void)snprintf(what, sizeof what, "-tensorboard %s", a->tensorboard ? a->tensorboard : "");
    return a->saves && a->tensorboard ? ddp_access_write(what, a->tensorboard, err) : DDP_OK;
}

/* A run that has begun since may have set aside the weights that somebody wants to begin with. */
static ddp_status say_if_aside(const ddp_arguments *a, ddp_error *err)
{
    const char *name = ddp_path_name(a->weights);
    char *directory = ddp_path_folder(a->weights), *folder = NULL;
    char *base = a->cfg ? ddp_cfg_base(a->cfg) : NULL;
    ddp_error found = *err;

    if (base && directory)
        folder = ddp_set_aside_last(directory, base, name);
    if (folder)
        (void)ddp_fail(err, found.code, "%s; a later run has set such a file aside: %.120s/%.100s",
                       found.text, folder, name);
    free(directory);
    free(folder);
    free(base);
    return err->code;
}

/* "-resume true": the word behind a switch stands where weights would. */
static int is_truth_value(const char *word)
{
    static const char *const values[] = {"0", "1", "true", "false", "yes", "no", "on", "off"};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (strcasecmp(word, values[i]) == 0)
            return 1;
    return 0;
}

static ddp_status explain_weights(const ddp_arguments *a, ddp_error *err)
{
    if (access(a->weights, F_OK) == 0)
        return err->code;
    if (is_truth_value(a->weights))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "'%s' stands where weights would: switches such as -resume and -clear "
                        "take no value, and are off where they are left out",
                        a->weights);
    return say_if_aside(a, err);
}

static ddp_status check_words(const ddp_arguments *a, ddp_error *err)
{
    const char *const words[] = {a->data, a->cfg, a->weights};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i] && *words[i] && ddp_access_read(words[i], words[i], err))
            return words[i] == a->weights ? explain_weights(a, err) : err->code;
    return DDP_OK;
}

/* ---- all of it ---- */

static ddp_status check_contents(const ddp_arguments *a, const ddp_sections *data, ddp_error *err)
{
    ddp_sections cfg = {0};
    ddp_error ignored;
    ddp_status st = check_data(data, a->data, a->allow_unknown, err);

    if (!st && wants_classes(a, data))
        st = check_classes(data, a->data, err);
    if (!st && a->cfg && !ddp_sections_read(&cfg, a->cfg, &ignored))
        st = ddp_kind_check_cfg(&cfg, a->cfg, err) || ddp_kind_check_network(a, &cfg, data, err)
                     || ddp_kind_check_length(a, &cfg, err) || ddp_kind_check_square(a, &cfg, err)
                 ? err->code
                 : DDP_OK;
    ddp_sections_release(&cfg);
    return st;
}

ddp_status ddp_arguments_check(const ddp_arguments *a, ddp_error *err)
{
    ddp_sections data = {0};
    ddp_error ignored;
    ddp_status st = DDP_OK;
    int is_read;

    if (ddp_kind_check_names(a, err) || (!a->elsewhere && check_words(a, err))
        || ddp_kind_check_weights(a, err))
        return err->code;
    if (!a->elsewhere && check_outputs(a, err))
        return err->code;
    if (!a->data)
        return a->elsewhere ? DDP_OK : check_backup(a, NULL, err);
    is_read = ddp_data_read(&data, a->data, &ignored) == DDP_OK;
    if (is_read)
        st = check_contents(a, &data, err);
    if (!st && is_read && !a->elsewhere
        && (check_files(a, &data, err) || check_list(a, &data, "train", err)
            || check_backup(a, &data, err)))
        st = err->code;
    ddp_sections_release(&data);
    return st;
}

/* Less their names. */
static ddp_status check_places(const ddp_arguments *a, ddp_error *err)
{
    ddp_sections data = {0}, cfg = {0};
    ddp_error ignored;
    ddp_status st = ddp_kind_check_weights(a, err);

    if (!st && a->data && !ddp_data_read(&data, a->data, &ignored))
        st = ddp_kind_check_data(&data, a->data, err)
                     || (a->validates && wants_classes(a, &data)
                         && check_classes(&data, a->data, err))
                 ? err->code
                 : DDP_OK;
    if (!st && a->cfg && !ddp_sections_read(&cfg, a->cfg, &ignored))
        st = ddp_kind_check_cfg(&cfg, a->cfg, err);
    ddp_sections_release(&data);
    ddp_sections_release(&cfg);
    return st;
}

ddp_status ddp_arguments_check_places(const ddp_arguments *a, ddp_error *err)
{
    return ddp_kind_check_names(a, err) ? err->code : check_places(a, err);
}

ddp_status ddp_arguments_check_kinds(const ddp_arguments *a, ddp_error *err)
{
    return ddp_kind_check_names(a, err) || check_words(a, err) ? err->code : check_places(a, err);
}

/* Check what only a detector's cfg, or a classifier's .data file, must say. */
static ddp_status check_kind(const ddp_arguments *a, const ddp_sections *data, ddp_error *err)
{
    ddp_arguments some = *a;
    ddp_sections cfg = {0};
    ddp_error ignored;
    ddp_cfg_end end;
    ddp_status st = DDP_OK;

    if (ddp_sections_read(&cfg, a->cfg, &ignored))
        return DDP_OK;
    end = ddp_cfg_end_of(&cfg.cfg);
    some.command = end.head ? "detector" : "classifier";
    if (end.head && !ddp_sections_line(&cfg, "max_batches"))
        st =
            ddp_fail(err, DDP_ERR_USAGE,
                     "%s: [net] has no max_batches=, which says how many batches to train", a->cfg);
    else if (ddp_kind_check_length(&some, &cfg, err) || ddp_kind_check_square(&some, &cfg, err))
        st = err->code;
    else if (end.has_softmax && !ddp_sections_whole(data, "tag", 0)
             && !ddp_sections_line(data, "labels"))
        st = ddp_fail(err, DDP_ERR_FORMAT,
                      "%s has no labels=, the file of names that a classifier looks for in paths",
                      a->data);
    ddp_sections_release(&cfg);
    return st;
}

/* Training a detector reads no labels=. */
static int is_detector(const char *path)
{
    ddp_sections cfg = {0};
    ddp_error ignored;
    int is = !ddp_sections_read(&cfg, path, &ignored) && ddp_cfg_end_of(&cfg.cfg).head != NULL;

    ddp_sections_release(&cfg);
    return is;
}

void ddp_arguments_each_fault(const ddp_arguments *a, const ddp_sections *data,
                              void (*say)(void *ctx, const char *kind, const ddp_error *why),
                              void *ctx)
{
    static const char *const files[] = {"train", "valid", "names", "labels", "map", "tree"};
    ddp_error why;
    size_t at = 0;

    while (!a->allow_unknown && ddp_data_check_keys(data, a->data, &at, &why))
        say(ctx, "data-key", &why);
    if (ddp_data_check_twice(data, a->data, &why))
        say(ctx, "data-key", &why);
    if (check_classes(data, a->data, &why))
        say(ctx, "data-classes", &why);
    if (check_train(data, a->data, &why))
        say(ctx, "data-train", &why);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (!(strcmp(files[i], "labels") == 0 && is_detector(a->cfg))
            && check_file(a, data, files[i], &why))
            say(ctx, "data-unreadable", &why);
    if (check_list(a, data, "train", &why))
        say(ctx, "data-train", &why);
    if (check_list(a, data, "valid", &why))
        say(ctx, "data-valid", &why);
    if (check_kind(a, data, &why))
        say(ctx, "data-cfg", &why);
    if (check_backup(a, data, &why))
        say(ctx, "data-backup", &why);
}
