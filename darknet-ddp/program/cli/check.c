/* The command `darknet ddp check DATA CFG [WEIGHTS]`: prints faults of training data, cfg and
 * weights. With -report it also writes a page about the data. */
#include "cli/check_cfg.h"
#include "cli/check_print.h"
#include "cli/commands.h"
#include "comm/collectives.h"
#include "glue/weights.h"
#include "inputs/arguments.h"
#include "inputs/label_files.h"
#include "inputs/overrides.h"
#include "inputs/scan_data.h"
#include "inputs/scan_gather.h"
#include "launch/transport_choice.h"
#include "report/data_report.h"
#include "samples/transforms.h"
#include "show/output_file.h"
#include "show/rank_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Part number rank of size. */
static void look(ddp_scan_data *c, int rank, int size)
{
    size_t r = (size_t)rank, n = (size_t)size;
    size_t first = c->list.count * r / n, end = c->list.count * (r + 1) / n;

    ddp_scan_data_check_train(c, first, end - first);
    first = c->valid.count * r / n;
    end = c->valid.count * (r + 1) / n;
    ddp_scan_data_check_valid(c, first, end - first);
}

/* Find the faults that need whole lists, on rank 0 alone; other ranks drop what they know of them.
 */
static void look_at_lists(ddp_scan_data *c, int rank)
{
    if (rank > 0) {
        ddp_faults_release(&c->faults);
        return;
    }
    ddp_scan_data_check_lists(c);
}

/* A list of backgrounds has empty label files; without any, somebody has put them elsewhere. */
static void look_at_labels(ddp_scan_data *c)
{
    ddp_error why;

    if (ddp_scan_data_has_no_labels(c, &why))
        ddp_fault_add(&c->faults, DDP_FAULT_ERROR, "labels-none", c->list_path, 0, "%s", why.text);
    else
        ddp_scan_data_check_boxes(c, &c->faults);
}

/* Without labels all validations have the figure 0 or none, and the first weights stay the best. */
static void look_at_valid_labels(ddp_scan_data *c)
{
    ddp_error why;
    int empty;

    if (c->heads.count == 0)
        return;
    if (ddp_label_files_find(c->valid.all, c->valid.count, 0, &empty, &why))
        ddp_fault_add(&c->faults, DDP_FAULT_ERROR, "labels-none", c->valid_path, 0, "%s", why.text);
    else if (empty)
        ddp_fault_add(&c->faults, DDP_FAULT_WARNING, "labels-empty", c->valid_path, 0,
                      "no picture has a box: a validation measures nothing here");
}

static void look_at_anchors(ddp_scan_data *c, ddp_anchor_fit *fit)
{
    if (ddp_anchor_fit_find(fit, c))
        ddp_fault_add(&c->faults, DDP_FAULT_WARNING, "cfg-anchors", c->cfg_path, 0,
                      "its anchors fit these boxes with an average IoU of %.1f%%; others, below, "
                      "with %.1f%%",
                      100 * fit->cfgs_iou, 100 * fit->iou);
}

/* force: training would load them all the same. */
static ddp_status look_at_weights(ddp_scan_data *c, const char *weights, int force, ddp_fit *fit,
                                  ddp_error *err)
{
    ddp_status st;

    if (!weights)
        return DDP_OK;
    ddp_rank_output_hide_errors();
    st = ddp_weights_check(c->cfg_path, weights, &fit->weights, err);
    ddp_rank_output_show_errors();
    fit->weights_path = weights;
    if (!st && fit->weights.refusal[0])
        ddp_fault_add(&c->faults, force ? DDP_FAULT_WARNING : DDP_FAULT_ERROR, "weights-unfit",
                      weights, 0, "%s", fit->weights.refusal);
    return st;
}

static int print(ddp_scan_data *c, const ddp_fit *fit, const ddp_options *o)
{
    const ddp_check_result result = {
        .names = c->names.count >= (size_t)c->classes && c->classes ? c->names.all : NULL,
        .classes = c->unknown ? 0 : c->classes,
        .by_class = c->by_class,
        .tally = &c->tally,
        .heads = &c->heads,
        .fit = fit};
    FILE *json = ddp_output_file_open(o->json);
    ddp_check_counts counts;

    ddp_faults_unique(&c->faults);
    counts = ddp_check_print(stdout, json, &c->faults, &result);
    ddp_output_file_close(json, o->json);
    return counts.errors > 0;
}

static void add_fault(void *ctx, const char *kind, const ddp_error *why)
{
    ddp_scan_data *c = ctx;
    size_t length = strlen(c->cfg_path);
    int is_of_cfg = strncmp(why->text, c->cfg_path, length) == 0 && why->text[length] == ':';

    ddp_check_add_said(&c->faults, kind, is_of_cfg ? c->cfg_path : c->data_path, why->text);
}

/* How many pixels a cell of the finest detector has; 0: there is none, or the cfg has a fault. */
static int cell_of(const ddp_scan_data *c, const ddp_options *options)
{
    ddp_network_shape shape;
    network *net;
    int cell;

    if (c->heads.count == 0 || ddp_faults_have(&c->faults, "cfg-"))
        return 0;
    net = ddp_command_load(&shape, c->cfg_path, options, -1, 0);
    cell = ddp_network_smallest_cell(net);
    ddp_network_free(net);
    return cell;
}

/* Write the page of -report. */
static ddp_status write_report(const ddp_scan_data *c, const ddp_options *options, ddp_error *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    ddp_data_report report = {0};
    ddp_status st = DDP_OK;

    if (!options->report)
        return DDP_OK;
    st = ddp_data_report_read(&report, c, options->threads ? options->threads : (int)cores, err);
    if (!st) {
        FILE *page = ddp_output_file_open(options->report);

        report.cell = cell_of(c, options);
        ddp_data_report_put(page, &report);
        ddp_output_file_close(page, options->report);
    }
    ddp_data_report_release(&report);
    return st;
}

/* On rank 0, with what all have found. */
static int conclude(ddp_scan_data *c, const char *weights, const ddp_options *options,
                    ddp_error *err)
{
    ddp_fit fit = {0};

    look_at_labels(c);
    look_at_valid_labels(c);
    if (!ddp_faults_have(&c->faults, "cfg-filters") && !ddp_faults_have(&c->faults, "cfg-classes"))
        ddp_check_cfg(&c->faults, c->cfg_path, &c->cfg.cfg,
                      options); /* else it would say that once more */
    if (write_report(c, options, err))
        return -1;
    look_at_anchors(c, &fit.anchors);
    if (look_at_weights(c, weights, options->weights_force, &fit, err))
        return -1;
    return print(c, &fit, options);
}

/* Put the values of the options into c, as a run with these options does. */
static void override(ddp_scan_data *c, ddp_overrides *overrides, const ddp_options *options,
                     int ranks)
{
    ddp_sections data = {0};
    ddp_error err = {0};

    if (ddp_data_read(&data, c->data_path, &err)
        || (ddp_overrides_make(overrides, options, c->cfg_path, ddp_sections_find(&data, "train"),
                               ranks, &err)
            && err.code != DDP_ERR_FORMAT))
        ddp_rank_output_failure(&err);
    if (err.code == DDP_ERR_FORMAT)
        ddp_check_add_said(&c->faults, "cfg-refused", c->cfg_path, err.text);
    ddp_sections_release(&data);
    c->values = overrides->values;
    ddp_darknet_set_net_values(overrides->values);
}

int ddp_command_check(const ddp_command_call *call)
{
    const char *data = call->words[0], *cfg = call->words[1], *weights = call->words[2];
    const ddp_options *options = call->options;
    ddp_scan_data c = {.data_path = data,
                       .cfg_path = cfg,
                       .missing_is_error = options->labels_required,
                       .decode = options->deep ? ddp_decode_picture : NULL};
    const ddp_arguments words = {.command = "check",
                                 .data = data,
                                 .cfg = cfg,
                                 .allow_unknown = options->allow_unknown_keys,
                                 .has_epochs = options->epochs > 0,
                                 .saves = 1};
    ddp_overrides overrides;
    ddp_group *group;
    ddp_error err;
    int status = 0, rank;

    if (ddp_backend_open(&group, options, call->launcher, &err))
        ddp_rank_output_failure(&err);
    ddp_rank_output_open(group);
    ddp_rank_output_show_errors();
    rank = ddp_group_rank(group);
    if (ddp_arguments_check_kinds(&words, &err))
        ddp_rank_output_failure(&err);
    override(&c, &overrides, options, ddp_group_size(group));
    if (ddp_scan_data_open(&c, &err) || ddp_check_cfg_trainable(cfg, &c.cfg.cfg, &err))
        ddp_rank_output_failure(&err);
    look_at_lists(&c, rank);
    if (rank == 0)
        ddp_arguments_each_fault(&words, &c.data, add_fault, &c);
    look(&c, rank, ddp_group_size(group));
    if (ddp_scan_gather(group, &c.faults, &c.tally, c.by_class, c.classes, &c.sample, &err))
        ddp_rank_output_failure(&err);
    if (rank == 0) {
        ddp_overrides_print(stdout, "", &overrides); /* lines below tell these values */
        status = conclude(&c, weights, options, &err);
    }
    if (status < 0)
        ddp_rank_output_failure(&err);
    ddp_scan_data_release(&c);
    if (ddp_broadcast(group, &status, sizeof status, 0, &err))
        ddp_rank_output_failure(&err);
    ddp_rank_output_done(status); /* before another rank can end with a status that is not 0 */
    ddp_group_close(group);
    return status;
}
