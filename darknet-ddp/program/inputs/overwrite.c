#include "inputs/overwrite.h"

#include "checkpoint/match.h"
#include "glue/darknet.h"
#include "inputs/text_file.h"
#include "options/darknet_commands.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUTS_MOST = 6, NAME = 512 };

typedef struct input {
    char name[NAME]; /* as it is said */
    dev_t device;
    ino_t inode;
} input;

typedef struct output {
    char what[NAME]; /* "-json FILE" */
    char path[PATH_MAX];
    ddp_written_kind kind;
} output;

static input *inputs; /* of this process's command */
static size_t input_count;
static int lost; /* no memory for one of them */

/* ---- what is read ---- */

static int is_file(const char *path, struct stat *info)
{
    return stat(path, info) == 0 && S_ISREG(info->st_mode);
}

static void note(const char *path, const char *named_by)
{
    struct stat info;
    input *list, *in;

    if (!path || !is_file(ddp_installed_path(path), &info))
        return;
    list = reallocarray(inputs, input_count + 1, sizeof *list);
    if (!list) {
        lost = 1;
        return;
    }
    inputs = list;
    in = &inputs[input_count++];
    (void)snprintf(in->name, sizeof in->name, "%s%s", path, named_by);
    in->device = info.st_dev;
    in->inode = info.st_ino;
}

/* Whatever a key of the .data file names. */
static void note_data(const char *path)
{
    ddp_sections data = {0};
    ddp_error ignored;

    if (path && !ddp_data_read(&data, path, &ignored))
        for (size_t i = 0; i < data.cfg.count; i++) {
            const ddp_cfg_line *line = &data.cfg.lines[i];
            char named_by[NAME];

            (void)snprintf(named_by, sizeof named_by, " (%s= of %s)", line->key, path);
            if (line->value)
                note(line->value, named_by);
        }
    ddp_sections_release(&data);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Has the file that is there names besides the path's last part? */
static int has_other_names(const char *path, const struct stat *info)
{
    struct stat link;

    return info->st_nlink > 1 || (lstat(path, &link) == 0 && S_ISLNK(link.st_mode));
}

/* Is the file a picture of a list of the .data file? A long list is not asked for line by line: a
 * picture of another name is the same file only if that has other names. (A list's own symbolic
 * link of another name is not found.) */
static int find_picture(const char *written, const struct stat *info, const char *data_path,
                        const char *key, char *name)
{
    ddp_sections data = {0};
    ddp_lines list = {0};
    struct stat picture;
    ddp_error ignored;
    const char *path;
    int found = 0, any_name = has_other_names(written, info);

    if (!ddp_data_read(&data, data_path, &ignored) && (path = ddp_sections_find(&data, key))
        && !ddp_lines_read(&list, path, &ignored))
        for (size_t i = 0; i < list.count && !found; i++) {
            found = (any_name || strcmp(last_part(list.all[i]), last_part(written)) == 0)
                    && is_file(list.all[i], &picture) && picture.st_ino == info->st_ino
                    && picture.st_dev == info->st_dev;
            if (found)
                (void)snprintf(name, NAME, "%s (%s:%zu)", list.all[i], path, list.numbers[i]);
        }
    ddp_lines_release(&list);
    ddp_sections_release(&data);
    return found;
}

/* ---- what is there already ---- */

static int has_state(const char *weights)
{
    char *state = ddp_state_path(weights);
    int has = state && access(state, F_OK) == 0;

    free(state);
    return has;
}

ddp_status ddp_overwrite_check_file(const char *what, const char *path, ddp_written_kind kind,
                                    ddp_error *err)
{
    struct stat info;

    if (stat(path, &info))
        return DDP_OK;
    if (!S_ISREG(info.st_mode) && kind == DDP_WRITTEN_WEIGHTS) /* a rename would put them there */
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s would replace %s, which is there and is no regular file: name another "
                        "file",
                        what, path);
    if (!S_ISREG(info.st_mode))
        return DDP_OK;
    if (lost)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of what is read");
    for (size_t i = 0; i < input_count; i++)
        if (inputs[i].inode == info.st_ino && inputs[i].device == info.st_dev)
            return ddp_fail(err, DDP_ERR_USAGE,
                            "%s would write over %s, which this command reads: name another file",
                            what, inputs[i].name);
    if (kind == DDP_WRITTEN_WEIGHTS && has_state(path))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s would write over %s, a checkpoint of a run (%s.state): name another "
                        "file",
                        what, path, path);
    if (kind == DDP_WRITTEN_WEIGHTS && info.st_size > 0 && !ddp_written_is_other(path, kind))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s would write over the weights in %s: remove them first, or name another "
                        "file",
                        what, path);
    if (ddp_written_is_other(path, kind))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s would write over %s, which is there and is no %s: name another file",
                        what, path, ddp_written_name(kind));
    return DDP_OK;
}

/* ---- what a line says ---- */

/* The word at this place of the command's usage: "DATA", "OUT". */
static const char *word_at(const char *place, int argc, char **argv, const ddp_ddp_command *own)
{
    int i;

    if (!own)
        return ddp_darknet_word_at(argc, argv, place);
    i = ddp_words_find(own->words, place);
    return i >= 0 && i + 3 < argc ? argv[i + 3] : NULL;
}

static void add(output *outputs, int *count, const char *what, const char *path, const char *end,
                ddp_written_kind kind)
{
    output *o = &outputs[*count];

    if (!path || !*path)
        return;
    (void)snprintf(o->what, sizeof o->what, "%s %s", what, path);
    (void)snprintf(o->path, sizeof o->path, "%s%s", path, end);
    o->kind = kind;
    (*count)++;
}

/* What -json writes. */
static ddp_written_kind report_of(const ddp_ddp_command *own)
{
    if (own && own->id == DDP_SUBCOMMAND_CHECK)
        return DDP_WRITTEN_CHECK;
    if (own && own->id == DDP_SUBCOMMAND_BENCH)
        return DDP_WRITTEN_BENCH;
    return own && own->id == DDP_SUBCOMMAND_OPTIONS ? DDP_WRITTEN_OPTIONS : DDP_WRITTEN_MAP;
}

static int find_outputs(output *outputs, int argc, char **argv, const ddp_ddp_command *own,
                        const ddp_options *o)
{
    const char *out = word_at("OUT", argc, argv, own);
    int count = 0;

    add(outputs, &count, "-json", o->json, "", report_of(own));
    add(outputs, &count, "-trace", o->trace, "", DDP_WRITTEN_TRACE);
    add(outputs, &count, "-ddp_trace", o->trace_run, "", DDP_WRITTEN_TRACE);
    if (own && own->id == DDP_SUBCOMMAND_BENCH)
        add(outputs, &count, "-profile", o->profile, "", DDP_WRITTEN_PROFILE);
    if (ddp_darknet_is(argc, argv, "3d", ""))
        add(outputs, &count, "3d", out, ".jpg", DDP_WRITTEN_JPEG);
    else
        add(outputs, &count, ddp_darknet_word(argc, argv, 0), out, "", DDP_WRITTEN_WEIGHTS);
    if (ddp_darknet_is(argc, argv, "detect", "")
        || ddp_darknet_is(argc, argv, "detector", "test")) {
        out = ddp_darknet_option(argv, "-out");
        add(outputs, &count, out ? "-out" : "without -out the result", out ? out : "predictions",
            ".jpg", DDP_WRITTEN_JPEG);
    }
    if (ddp_darknet_is(argc, argv, "yolo", "test"))
        add(outputs, &count, "the result", "predictions", ".jpg", DDP_WRITTEN_JPEG);
    if (ddp_darknet_is(argc, argv, "coco", "test"))
        add(outputs, &count, "the result", "prediction", ".jpg", DDP_WRITTEN_JPEG);
    return count;
}

static void note_all(int argc, char **argv, const ddp_ddp_command *own, const ddp_options *o)
{
    const char *out = word_at("OUT", argc, argv, own), *word;

    for (int i = 1; (word = ddp_darknet_word(argc, argv, i)); i++)
        if (word != out)
            note(word, "");
    note(o->replay, "");
    note(o->hosts, "");
    note_data(word_at("DATA", argc, argv, own));
}

/* A picture that is written may not be one to train, test or validate on, either. */
static ddp_status check_pictures(const output *o, const char *data, ddp_error *err)
{
    static const char *const lists[] = {"train", "valid", "test"};
    struct stat info;
    char name[NAME];

    if (o->kind != DDP_WRITTEN_JPEG || !data || !is_file(o->path, &info))
        return DDP_OK;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (find_picture(o->path, &info, data, lists[i], name))
            return ddp_fail(err, DDP_ERR_USAGE,
                            "%s would write over %s, a picture of this data set: name another file",
                            o->what, name);
    return DDP_OK;
}

/* Two streams may go to one terminal, or to /dev/null. */
static int are_one_file(const output *a, const output *b)
{
    struct stat info;

    return strcmp(a->path, b->path) == 0 && (stat(a->path, &info) || S_ISREG(info.st_mode));
}

ddp_status ddp_overwrite_check(int argc, char **argv, const ddp_ddp_command *own,
                               const ddp_options *options, ddp_error *err)
{
    output outputs[OUTPUTS_MOST];
    int count = find_outputs(outputs, argc, argv, own, options);

    note_all(argc, argv, own, options);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < i; k++)
            if (are_one_file(&outputs[i], &outputs[k]))
                return ddp_fail(err, DDP_ERR_USAGE, "%s and %s name one file", outputs[k].what,
                                outputs[i].what);
        if (ddp_overwrite_check_file(outputs[i].what, outputs[i].path, outputs[i].kind, err)
            || check_pictures(&outputs[i], word_at("DATA", argc, argv, own), err))
            return err->code;
    }
    return DDP_OK;
}
