/* The command `darknet ddp import coco|voc|yolo SOURCE -o DIR`: makes data that Darknet trains on
 * from a foreign format, then a cfg for them, and checks both. */
#include "base/plural.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "import/prepare.h"
#include "import/readers.h"
#include "import/split.h"
#include "import/write.h"
#include "inputs/text_file.h"
#include "show/rank_output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct format {
    const char *word;
    ddp_import_reader *read;
    int names_folders; /* 1: annotations say in which folders their pictures are */
} formats[] = {{"coco", ddp_coco_read, 0}, {"voc", ddp_voc_read, 0}, {"yolo", ddp_yolo_read, 1}};

static const char template_name[] = "yolov4-tiny";

enum { TEMPLATE_BATCH = 64, SMALL_SIDE = 224 };

/* Set *left to the kinds that -leave names. */
static ddp_status read_leave(unsigned *left, const char *words, ddp_error *err)
{
    char *copy = strdup(words ? words : "crowd"), *rest = NULL;
    ddp_status st = copy ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for -leave");

    *left = 0;
    for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; !st && word;
         word = strtok_r(NULL, ",", &rest)) {
        ddp_oddity kind = ddp_oddity_find(word);

        if (kind < DDP_ODDITIES && ddp_oddity_is_choice(kind))
            *left |= 1U << kind;
        else if (strcmp(word, "none") != 0)
            st = ddp_fail(err, DDP_ERR_USAGE,
                          "-leave takes crowd, difficult, segments, turned, empty or none, with "
                          "commas between them, not '%s'",
                          word);
    }
    free(copy);
    return st;
}

/* With -names there are no other classes than those of its lines. */
static ddp_status read_names(ddp_annotations *a, const char *path, ddp_error *err)
{
    ddp_lines names = {0};
    ddp_status st = path ? ddp_names_read(&names, path, err) : DDP_OK;

    for (size_t i = 0; !st && i < names.count; i++)
        (void)ddp_annotations_add_class(a, names.all[i], path);
    a->is_closed = path != NULL;
    ddp_lines_release(&names);
    return st;
}

/* NULL: there is no such format, or it takes no -pictures. */
static const struct format *find_format(const ddp_command_call *call, ddp_error *err)
{
    const struct format *f = NULL;

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].word, call->words[0]) == 0)
            f = &formats[i];
    if (!f)
        (void)ddp_fail(err, DDP_ERR_USAGE, "import reads coco, voc and yolo, not '%s'",
                       call->words[0]);
    else if (f->names_folders && call->options->import_pictures) {
        (void)ddp_fail(err, DDP_ERR_USAGE,
                       "-pictures is for coco and voc: data.yaml names folders");
        f = NULL;
    }
    return f;
}

static ddp_status read_source(ddp_annotations *a, const ddp_command_call *call, unsigned left,
                              ddp_error *err)
{
    const struct format *format = find_format(call, err);
    const ddp_import_source source = {call->words[1], call->options->import_pictures};

    if (!format || read_names(a, call->options->import_names, err) || format->read(a, &source, err))
        return err->code;
    ddp_annotations_prepare(a, left);
    ddp_split(a, call->options->import_valid);
    return a->lost ? ddp_fail(err, DDP_ERR_NOMEM, "no memory for the annotations") : DDP_OK;
}

/* Nothing is written of a source without a picture: *odd says why there is none. */
static ddp_status write_folder(const ddp_annotations *a, const ddp_options *o, unsigned left,
                               ddp_import_written *written, ddp_error *err)
{
    size_t pictures = 0;

    for (size_t i = 0; i < a->picture_count; i++)
        pictures += a->pictures[i].path != NULL;
    ddp_annotations_print_odd(stdout, a, left);
    if (pictures == 0)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "no picture is left of %zu; with coco and voc, "
                        "-pictures FOLDER says where they are",
                        a->picture_count);
    if (ddp_import_write(a, o->out, o->import_copy, written, err))
        return err->code;
    printf("%s: %zu picture%s to train on, %zu for validation, %zu boxes, %zu class%s\n",
           written->data, written->train, ddp_plural(written->train), written->valid, a->box_count,
           a->class_count, a->class_count == 1 ? "" : "es");
    return DDP_OK;
}

/* Run this program with args, and hand on what it prints. Returns its exit status. */
static int run(const char *const *args)
{
    char line[4096];
    FILE *in;
    pid_t child = ddp_ask_start(args, &in);

    if (child < 0)
        return -1;
    while (fgets(line, sizeof line, in))
        (void)fputs(line, stdout);
    (void)fclose(in);
    return ddp_ask_end(child);
}

/* Return the most ranks that divide the template's batch and that this host has cores for. */
static long ranks_here(void)
{
    long ranks = sysconf(_SC_NPROCESSORS_ONLN);

    while (ranks > 1 && TEMPLATE_BATCH % ranks)
        ranks--;
    return ranks > 1 ? ranks : 1;
}

/* name: the .data file's path without its ending. */
static void print_next(const char *name)
{
    const long ranks = ranks_here();

    printf("train with:\n    darknet detector train %s.data %s.cfg -ddp_ranks %ld\n", name, name,
           ranks);
    printf("that may take days on CPUs; with a cfg of half the size it ends in two hours here:\n"
           "    darknet ddp cfg %s -data %s.data -width %d -height %d -hours 2 -ddp_ranks %ld -o "
           "%s-small.cfg\n    darknet detector train %s.data %s-small.cfg -ddp_ranks %ld\n",
           template_name, name, SMALL_SIDE, SMALL_SIDE, ranks, name, name, name, ranks);
}

/* Write a cfg beside the .data file, check both, and print the lines that train. */
static int check_written(const char *data)
{
    char *name = strndup(data, strlen(data) - strlen(".data")), *cfg = NULL;
    int status = 1;

    if (name && asprintf(&cfg, "%s.cfg", name) >= 0) {
        status = run((const char *const[]){"darknet", "ddp", "cfg", template_name, "-data", data,
                                           "-o", cfg, NULL});
        if (status == 0)
            status = run((const char *const[]){"darknet", "ddp", "check", data, cfg, NULL});
        if (status == 0)
            print_next(name);
        free(cfg);
    }
    free(name);
    return status != 0;
}

int ddp_command_import(const ddp_command_call *call)
{
    ddp_annotations a = {0};
    ddp_import_written written = {0};
    unsigned left;
    ddp_error err;
    int status;

    if (!call->options->out) {
        (void)ddp_fail(&err, DDP_ERR_USAGE, "import wants -o DIR, the folder to write");
        ddp_rank_output_failure(&err);
    }
    if (read_leave(&left, call->options->import_leave, &err) || read_source(&a, call, left, &err)
        || write_folder(&a, call->options, left, &written, &err))
        ddp_rank_output_failure(&err);
    status = check_written(written.data);
    free(written.data);
    ddp_annotations_release(&a);
    return status;
}
