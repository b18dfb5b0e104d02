#include "onnx/export.h"

#include "base/plural.h"
#include "cli/commands.h"
#include "inputs/text_file.h"
#include "onnx/reference.h"
#include "show/output_file.h"
#include "show/rank_output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern const unsigned char ddp_check_onnx_py[]; /* check_onnx.py */

enum { PICTURES = 4, NO_ONNXRUNTIME = 77, CANNOT_START = 127 };

/* The files that -data names. All zero: it is not given. */
typedef struct export_data {
    ddp_sections data;
    ddp_lines names, pictures;
    char *joined; /* the names, a line each */
} export_data;

static void release_data(export_data *d)
{
    ddp_sections_release(&d->data);
    ddp_lines_release(&d->names);
    ddp_lines_release(&d->pictures);
    free(d->joined);
}

static ddp_status join_names(export_data *d, ddp_error *err)
{
    size_t size;
    FILE *f = open_memstream(&d->joined, &size);

    for (size_t i = 0; f && i < d->names.count; i++)
        (void)fprintf(f, "%s%s", i ? "\n" : "", d->names.all[i]);
    if (!f || fclose(f))
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for names of classes");
    return DDP_OK;
}

static ddp_status read_data(export_data *d, const char *path, int checks, ddp_error *err)
{
    const char *names, *valid;

    if (!path)
        return DDP_OK;
    if (ddp_data_read(&d->data, path, err))
        return err->code;
    names = ddp_sections_find(&d->data, "names");
    if (!names)
        names = ddp_sections_find(&d->data, "labels");
    valid = ddp_sections_find(&d->data, "valid");
    if (names && (ddp_names_read(&d->names, names, err) || join_names(d, err)))
        return err->code;
    return valid && checks ? ddp_lines_read(&d->pictures, valid, err) : DDP_OK;
}

/* ---- comparing with onnxruntime ---- */

/* Start python3 on check_onnx.py, and set *to to where it reads. Returns -1 on failure. */
static pid_t start_python(const char *path, const char *tolerance, FILE **to)
{
    const char *const args[] = {"python3", "-c",      (const char *)ddp_check_onnx_py,
                                path,      tolerance, NULL};
    int ends[2];
    pid_t child;

    if (pipe(ends))
        return -1;
    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        if (dup2(ends[0], STDIN_FILENO) >= 0) {
            (void)close(ends[0]);
            (void)close(ends[1]);
            (void)execvp(args[0], (char *const *)args);
        }
        _exit(CANNOT_START);
    }
    (void)close(ends[0]);
    *to = child < 0 ? NULL : fdopen(ends[1], "w");
    if (!*to)
        (void)close(ends[1]);
    return child;
}

/* Compare the file at path, whose layers have these names, and return the exit status. */
static int check(network *net, const char *path, const ddp_onnx_options *o,
                 const ddp_onnx_names *names, const ddp_lines *pictures)
{
    FILE *to = NULL;
    pid_t child;
    int status = -1;

    (void)signal(SIGPIPE, SIG_IGN); /* python3 may end at once */
    child = start_python(path, o->half_weights ? "5e-2" : "1e-4", &to);
    if (to) {
        ddp_onnx_write_reference(net, NULL, o, names, to);
        for (size_t i = 0; i < pictures->count && i < PICTURES && !ferror(to); i++)
            ddp_onnx_write_reference(net, pictures->all[i], o, names, to);
        (void)fclose(to);
    }
    if (child > 0 && waitpid(child, &status, 0) != child)
        status = -1;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= 1) {
        printf("%s %s\n", path,
               WEXITSTATUS(status) ? "does not compute what Darknet computes" : "is right");
        return WEXITSTATUS(status);
    }
    (void)fprintf(stderr, "%s was written, and not checked: %s\n", path,
                  child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NO_ONNXRUNTIME
                      ? "python3 has no onnxruntime (pip install onnxruntime)"
                      : "python3 could not run it");
    return 1;
}

/* ---- the command ---- */

static ddp_onnx_options options_of(const ddp_options *o, const export_data *d,
                                   ddp_onnx_names *names)
{
    const float most_overlap = 1;

    return (ddp_onnx_options){.heads = (ddp_onnx_heads)o->heads,
                              .opset = o->opset,
                              .keep_bn = o->keep_bn,
                              .dynamic_batch = o->dynamic_batch,
                              .half_weights = o->fp16,
                              .thresh = (float)o->thresh,
                              .nms = o->nms > 0 ? (float)o->nms : most_overlap,
                              .names = d->joined,
                              .layer_names = ddp_onnx_names_add,
                              .ctx = names};
}

static network *load_for_one_picture(const char *cfg, const ddp_options *o)
{
    ddp_options one = *o;
    ddp_network_shape shape;

    one.cfg_batch = 1;
    one.subdivisions = 1;
    return ddp_command_load(&shape, cfg, &one, -1, 0);
}

int ddp_command_export(const ddp_command_call *call)
{
    const ddp_options *o = call->options;
    export_data data = {0};
    ddp_onnx_names names = {0};
    ddp_onnx_options options;
    network *net;
    ddp_error err;
    FILE *f;
    int status = 0;

    if (!o->out) {
        (void)ddp_fail(&err, DDP_ERR_USAGE, "export wants -o FILE.onnx");
        ddp_rank_output_failure(&err);
    }
    if (read_data(&data, o->data, o->check, &err))
        ddp_rank_output_failure(&err);
    net = load_for_one_picture(call->words[0], o);
    ddp_network_read_weights(net, call->words[1]);
    options = options_of(o, &data, &names);
    f = ddp_output_file_open(o->out);
    if (ddp_onnx_export(net, &options, f, &err)) {
        (void)fclose(f);
        (void)unlink(o->out);
        ddp_rank_output_failure(&err);
    }
    ddp_output_file_close(f, o->out);
    if (o->check)
        status = check(net, o->out, &options, &names, &data.pictures);
    else
        printf("%s is written, and not checked: -check compares it with Darknet's own forward "
               "pass\n",
               o->out);
    ddp_network_free(net);
    ddp_onnx_names_release(&names);
    release_data(&data);
    return status;
}
