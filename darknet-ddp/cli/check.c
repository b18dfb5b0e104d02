/* `darknet ddp check DATA CFG`: all that is wrong with training data, at once. */
#include "check/data.h"
#include "check/model.h"
#include "cli/check_gather.h"
#include "cli/check_print.h"
#include "cli/commands.h"
#include "cli/report.h"
#include "cli/text_file.h"
#include "glue/cfg.h"
#include "glue/pictures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct checking {
    const char *data_path, *cfg_path;
    ddp_sections data, cfg;
    ddp_lines list, names;
    const char *list_path;
    int classes; /* 0: the .data file does not say */
    ddp_heads heads;
    ddp_faults faults;
    ddp_tally tally;
    uint64_t *by_class;
};

static void release(struct checking *c)
{
    ddp_sections_release(&c->data);
    ddp_sections_release(&c->cfg);
    ddp_lines_release(&c->list);
    ddp_lines_release(&c->names);
    free(c->by_class);
    ddp_faults_release(&c->faults);
}

/* names= of a detector and labels= of a classifier, or names= of it too. */
static ddp_status read_names(struct checking *c, int is_classifier, ddp_error *err)
{
    const char *path = ddp_sections_find(&c->data, is_classifier ? "labels" : "names");

    if (!path && is_classifier)
        path = ddp_sections_find(&c->data, "names");
    if (!path)
        return DDP_OK;
    if (ddp_lines_read(&c->names, path, err))
        return err->code;
    if (c->classes > 0 && c->names.count < (size_t)c->classes)
        ddp_fault_add(&c->faults, DDP_FAULT_ERROR, "data-names", path, 0,
                      "%zu names, and classes=%d in %s", c->names.count, c->classes, c->data_path);
    return DDP_OK;
}

static ddp_status read_all(struct checking *c, ddp_error *err)
{
    const char *classes;

    if (ddp_sections_read(&c->data, c->data_path, err)
        || ddp_sections_read(&c->cfg, c->cfg_path, err))
        return err->code;
    classes = ddp_sections_find(&c->data, "classes");
    c->classes = classes ? atoi(classes) : 0;
    if (c->classes < 0 || c->classes > DDP_CHECK_CLASSES_MOST)
        return ddp_fail(err, DDP_ERR_FORMAT, "%s: classes=%s", c->data_path, classes);
    c->list_path = ddp_sections_find(&c->data, "train");
    if (!c->list_path)
        return ddp_fail(err, DDP_ERR_FORMAT, "%s has no train=, the list of pictures",
                        c->data_path);
    if (ddp_lines_read(&c->list, c->list_path, err))
        return err->code;
    if (c->list.count == 0)
        return ddp_fail(err, DDP_ERR_FORMAT, "%s lists no picture", c->list_path);
    c->by_class = calloc((size_t)c->classes + 1, sizeof *c->by_class);
    if (!c->by_class)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d classes", c->classes);
    return DDP_OK;
}

static void look(struct checking *c, const ddp_options *o, int rank, int size)
{
    int is_classifier = c->heads.count == 0;
    size_t first = c->list.count * (size_t)rank / (size_t)size;
    size_t end = c->list.count * ((size_t)rank + 1) / (size_t)size;
    int named = c->names.count >= (size_t)c->classes;
    int forks = ddp_cfg_of_forks(&c->cfg.cfg);
    ddp_check_config config = {.label_path = is_classifier ? NULL : ddp_label_path,
                               .decode = o->deep ? ddp_decode_picture : NULL,
                               .classes = c->classes ? c->classes : c->heads.classes,
                               .names = is_classifier && named ? c->names.all : NULL,
                               .most_boxes =
                                   forks ? c->heads.most_boxes_of_forks : c->heads.most_boxes,
                               .anchors = c->heads.anchor_count ? c->heads.anchors : NULL,
                               .anchor_count = c->heads.anchor_count};

    if (c->classes == 0) /* by_class has no room */
        config.classes = 0;
    ddp_check_pictures(&c->faults, &c->tally, c->by_class, &config, c->list.all + first,
                       end - first);
}

/* What every rank would find, and rank 0 says. */
static ddp_status look_at_files(struct checking *c, int rank, ddp_error *err)
{
    ddp_check_model(&c->faults, &c->heads, &c->cfg.cfg, c->cfg_path, c->data_path, c->classes);
    if (read_names(c, c->heads.count == 0, err))
        return err->code;
    if (rank == 0)
        ddp_check_duplicates(&c->faults, c->list_path, c->list.all, c->list.count);
    else
        ddp_faults_release(&c->faults);
    return DDP_OK;
}

static FILE *open_json(const char *path)
{
    FILE *json = path ? fopen(path, "w") : NULL;
    ddp_error err;

    if (path && !json) {
        (void)ddp_fail(&err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
        ddp_report_failure(&err);
    }
    return json;
}

static int print(struct checking *c, const ddp_options *o)
{
    const ddp_check_result result = {
        .names = c->names.count >= (size_t)c->classes && c->classes ? c->names.all : NULL,
        .classes = c->classes,
        .by_class = c->by_class,
        .tally = &c->tally,
        .heads = &c->heads};
    FILE *json = open_json(o->json);
    ddp_check_counts counts = ddp_check_print(stdout, json, &c->faults, &result);

    if (json)
        (void)fclose(json);
    return counts.errors > 0;
}

int ddp_command_check(const char *data, const char *cfg, const ddp_options *options,
                      ddp_launcher launcher)
{
    struct checking c = {.data_path = data, .cfg_path = cfg};
    ddp_group *group;
    ddp_error err;
    int status = 0, rank;

    if (ddp_group_open(&group, launcher.ranks > 1 ? "mpi" : "solo", &err))
        ddp_report_failure(&err);
    ddp_report_open(group);
    ddp_report_errors_only();
    rank = ddp_group_rank(group);
    if (read_all(&c, &err) || look_at_files(&c, rank, &err))
        ddp_report_failure(&err);
    look(&c, options, rank, ddp_group_size(group));
    if (ddp_check_gather(group, &c.faults, &c.tally, c.by_class, c.classes, &err))
        ddp_report_failure(&err);
    if (rank == 0)
        status = print(&c, options);
    release(&c);
    if (ddp_broadcast(group, &status, sizeof status, 0, &err))
        ddp_report_failure(&err);
    ddp_group_close(group);
    return status;
}
