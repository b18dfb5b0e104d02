#include "inputs/overwrite.h"

#include "base/path.h"
#include "checkpoint/match.h"
#include "glue/darknet.h"
#include "inputs/text_file.h"
#include "options/darknet_commands.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 512 };

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
            found = (any_name || strcmp(ddp_path_name(list.all[i]), ddp_path_name(written)) == 0)
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
    if (ddp_written_is_other(path, kind))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s would write over %s, which is there and is no %s: name another file",
                        what, path, ddp_written_name(kind));
    if (ddp_written_is_kept(kind) && info.st_size > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s would write over %s, a %s: remove it first, or name another file", what,
                        path, ddp_written_name(kind));
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

/* Options that name a file to write. commands: those of `darknet ddp` that write it, as bits; 0:
 * any command. */
static const struct file_option {
    const char *name;
    size_t field; /* of ddp_options: the path */
    unsigned commands;
    ddp_written_kind kind;
} file_options[] = {
    {"-json", offsetof(ddp_options, json), 1U << DDP_COMMAND_CHECK, DDP_WRITTEN_CHECK},
    {"-json", offsetof(ddp_options, json), 1U << DDP_COMMAND_MAP, DDP_WRITTEN_MAP},
    {"-json", offsetof(ddp_options, json), 1U << DDP_COMMAND_TEST, DDP_WRITTEN_PREDICTIONS},
    {"-json", offsetof(ddp_options, json), 1U << DDP_COMMAND_PREDICT, DDP_WRITTEN_PREDICTIONS},
    {"-json", offsetof(ddp_options, json), 1U << DDP_COMMAND_SUSPECTS, DDP_WRITTEN_SUSPECTS},
    {"-json", offsetof(ddp_options, json), 1U << DDP_COMMAND_BENCH, DDP_WRITTEN_BENCH},
    {"-json", offsetof(ddp_options, json), 1U << DDP_COMMAND_OPTIONS, DDP_WRITTEN_OPTIONS},
    {"-trace", offsetof(ddp_options, trace), 1U << DDP_COMMAND_BENCH, DDP_WRITTEN_TRACE},
    {"-profile", offsetof(ddp_options, profile), 1U << DDP_COMMAND_BENCH, DDP_WRITTEN_PROFILE},
    {"-o", offsetof(ddp_options, out), 1U << DDP_COMMAND_CFG, DDP_WRITTEN_CFG},
    {"-o", offsetof(ddp_options, out), 1U << DDP_COMMAND_EXPORT, DDP_WRITTEN_ONNX},
    {"-o", offsetof(ddp_options, out), 1U << DDP_COMMAND_SUSPECTS, DDP_WRITTEN_PAGE},
    {"-report", offsetof(ddp_options, report), 1U << DDP_COMMAND_CHECK, DDP_WRITTEN_PAGE},
    {"-ddp_trace", offsetof(ddp_options, trace_run), 0, DDP_WRITTEN_TRACE},
};

/* Commands of Darknet's that write a picture. */
static const struct picture_command {
    const char *name, *verb;
    const char *path;   /* without .jpg */
    const char *option; /* that names another; NULL: none does */
} picture_commands[] = {
    {"detect", "", "predictions", "-out"},
    {"yolo", "test", "predictions", NULL},
    {"coco", "test", "prediction", NULL},
};

/* Besides files of options a command writes the file of the word OUT, or a picture. */
enum { OUTPUTS_MOST = sizeof file_options / sizeof file_options[0] + 1 };

static int set(output *o, const char *what, const char *path, const char *end,
               ddp_written_kind kind)
{
    (void)snprintf(o->what, sizeof o->what, "%s %s", what, path);
    (void)snprintf(o->path, sizeof o->path, "%s%s", path, end);
    o->kind = kind;
    return 1;
}

static int find_picture_command(output *o, int argc, char **argv)
{
    for (size_t i = 0; i < sizeof picture_commands / sizeof picture_commands[0]; i++) {
        const struct picture_command *row = &picture_commands[i];
        const char *named;

        if (!ddp_darknet_is(argc, argv, row->name, row->verb))
            continue;
        named = row->option ? ddp_darknet_option(argv, row->option) : NULL;
        if (named)
            return set(o, row->option, named, ".jpg", DDP_WRITTEN_JPEG);
        return set(o, row->option ? "without -out the result" : "the result", row->path, ".jpg",
                   DDP_WRITTEN_JPEG);
    }
    return 0;
}

static int find_outputs(output outputs[OUTPUTS_MOST], int argc, char **argv,
                        const ddp_ddp_command *own, const ddp_options *options)
{
    const char *out = word_at("OUT", argc, argv, own);
    int count = 0;

    for (size_t i = 0; i < sizeof file_options / sizeof file_options[0]; i++) {
        const struct file_option *row = &file_options[i];
        const void *field = (const char *)options + row->field;
        const char *path = *(const char *const *)field;

        if (path && *path && (!row->commands || (own && row->commands >> own->id & 1U)))
            count +=
                set(&outputs[count], row->name, path, "",
                    row->kind == DDP_WRITTEN_PREDICTIONS && options->json_format == DDP_JSON_COCO
                        ? DDP_WRITTEN_COCO
                        : row->kind);
    }
    if (out && ddp_darknet_is(argc, argv, "3d", ""))
        return count + set(&outputs[count], "3d", out, ".jpg", DDP_WRITTEN_JPEG);
    if (out)
        return count
               + set(&outputs[count], ddp_darknet_word(argc, argv, 0), out, "",
                     DDP_WRITTEN_WEIGHTS);
    return count + find_picture_command(&outputs[count], argc, argv);
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

static ddp_status check_output(const output *o, const char *data, ddp_error *err)
{
    return ddp_overwrite_check_file(o->what, o->path, o->kind, err) ? err->code
                                                                    : check_pictures(o, data, err);
}

ddp_status ddp_overwrite_check_picture(const char *what, const char *name, const char *data,
                                       ddp_error *err)
{
    output o;

    (void)set(&o, what, name, ".jpg", DDP_WRITTEN_JPEG);
    return check_output(&o, data, err);
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
        if (check_output(&outputs[i], word_at("DATA", argc, argv, own), err))
            return err->code;
    }
    return DDP_OK;
}
