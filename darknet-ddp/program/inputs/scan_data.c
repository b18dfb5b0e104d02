#include "inputs/scan_data.h"

#include "check/cfg_end.h"
#include "check/same_pictures.h"
#include "glue/cfg.h"
#include "inputs/access.h"
#include "inputs/arguments.h"
#include "inputs/data_keys.h"
#include "inputs/label_files.h"
#include "samples/anchors.h"
#include "samples/transforms.h"
#include "text/line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void ddp_scan_data_release(ddp_scan_data *c)
{
    ddp_sections_release(&c->data);
    ddp_sections_release(&c->cfg);
    ddp_lines_release(&c->list);
    ddp_lines_release(&c->valid);
    ddp_lines_release(&c->names);
    free(c->by_class);
    ddp_faults_release(&c->faults);
}

typedef ddp_status read_file(ddp_lines *l, const char *path, ddp_error *err);

/* The lines of a file that a key of the .data file names. Returns its path; NULL: there is none. */
static const char *read_lines(ddp_scan_data *c, const char *key, ddp_lines *lines, read_file *read)
{
    const ddp_cfg_line *line = ddp_sections_line(&c->data, key);
    ddp_error why, ignored;

    if (!line)
        return NULL;
    if (!read(lines, line->value, &why)) {
        ddp_check_bom(&c->faults, line->value, lines->has_mark);
        return line->value;
    }
    ddp_lines_release(lines);
    c->unread = 1;
    if (!ddp_access_read(line->value, line->value, &ignored))
        ddp_fault_add(&c->faults, DDP_FAULT_ERROR, "data-unreadable", c->data_path, line->number,
                      "%s=%s: %s", key, line->value, why.text);
    return line->value;
}

static void compare_names(const ddp_scan_data *c, const char *path, ddp_faults *f)
{
    size_t classes = (size_t)c->classes;

    if (classes == 0 || c->names.count == classes)
        return;
    if (c->names.count < classes)
        ddp_fault_add(f, DDP_FAULT_ERROR, "data-names", path, 0, "%zu names, and classes=%d in %s",
                      c->names.count, c->classes, c->data_path);
    else
        ddp_fault_add(f, DDP_FAULT_WARNING, "data-names", path, (int)c->names.numbers[classes],
                      "%zu names, and classes=%d in %s: from this one on they name nothing",
                      c->names.count, c->classes, c->data_path);
}

/* Return the key of the file with the classes' names: names= of a detector, labels= of a
 * classifier, or names= of a classifier without labels=. */
static const char *names_key(const ddp_scan_data *c)
{
    int is_classifier = c->heads.count == 0 && !c->unknown;

    return is_classifier && ddp_sections_find(&c->data, "labels") ? "labels" : "names";
}

/* Where is this name? count: nowhere. */
static size_t place_of(const ddp_lines *names, const char *name)
{
    size_t i = 0;

    while (i < names->count && strcmp(names->all[i], name) != 0)
        i++;
    return i;
}

/* A classifier learns by labels=, and `classifier predict` tells names=, which may be others for
 * people to read, but not the same in another order. */
static void compare_order(const ddp_scan_data *c, ddp_faults *f)
{
    const ddp_cfg_line *labels = ddp_sections_line(&c->data, "labels"),
                       *names = ddp_sections_line(&c->data, "names");
    ddp_lines told = {0};
    ddp_error ignored;

    if (!labels || !names || strcmp(names_key(c), "labels") != 0
        || ddp_names_read(&told, names->value, &ignored))
        told.count = 0;
    for (size_t i = 0; i < told.count && i < c->names.count; i++) {
        size_t place = place_of(&c->names, told.all[i]);

        if (place == i || place == c->names.count)
            continue;
        ddp_fault_add(
            f, DDP_FAULT_WARNING, "data-names", names->value, (int)told.numbers[i],
            "'%s' is line %zu of labels=%s: `classifier predict` would tell this name for "
            "what is learnt as '%s'",
            told.all[i], c->names.numbers[place], labels->value, c->names.all[i]);
        break;
    }
    ddp_lines_release(&told);
}

/* Darknet writes those of VOC for whatever else is there. */
static void check_eval(const ddp_scan_data *c, ddp_faults *f)
{
    const ddp_cfg_line *line = ddp_sections_line(&c->data, "eval");

    if (line && strcmp(line->value, "voc") != 0 && strcmp(line->value, "coco") != 0
        && strcmp(line->value, "imagenet") != 0)
        ddp_fault_add(f, DDP_FAULT_WARNING, "data-eval", c->data_path, line->number,
                      "eval=%s: it is the format of results, voc, coco or imagenet; valid= names "
                      "the list to validate on",
                      line->value);
}

void ddp_scan_data_check_names(const ddp_scan_data *c, ddp_faults *f)
{
    const char *path = ddp_sections_find(&c->data, names_key(c));

    check_eval(c, f);
    if (!path || !c->names.all)
        return;
    for (size_t i = 0; i < c->names.count; i++)
        if (!ddp_line_cut(c->names.all[i])) {
            ddp_fault_add(f, DDP_FAULT_ERROR, "data-names", path, (int)c->names.numbers[i],
                          "a blank line, which counts as the name of class %zu", i);
            return;
        }
    compare_names(c, path, f);
    compare_order(c, f);
    for (size_t i = 0; i < c->names.count; i++)
        if (ddp_ends_with_blank(c->names.all[i]))
            ddp_fault_add(f, DDP_FAULT_WARNING, "data-names", path, (int)c->names.numbers[i],
                          "'%s' ends with a blank, which is part of the name", c->names.all[i]);
    ddp_check_duplicates(f,
                         &(ddp_list_lines){path, c->names.all, c->names.numbers, c->names.count});
}

/* Files of tags, and trees of classes, say by themselves which classes a picture has. */
static int names_tell(const ddp_scan_data *c)
{
    return c->heads.count == 0 && !c->unknown && !ddp_faults_have(&c->faults, "cfg-loss")
           && c->classes > 0 && c->names.count >= (size_t)c->classes
           && ddp_sections_whole(&c->data, "tag", 0) == 0 && !ddp_sections_find(&c->data, "tree")
           && !ddp_sections_find(&c->cfg, "tree");
}

/* Does the cfg fit the .data file? */
static void compare_cfg(ddp_scan_data *c)
{
    ddp_cfg_end end = ddp_cfg_end_of(&c->cfg.cfg);
    char text[DDP_MISFIT_TEXT];

    c->unknown = ddp_cfg_has_unknown_section(&c->cfg.cfg);
    if (c->unknown)
        return;
    ddp_check_model(&c->faults, &c->heads, &c->cfg.cfg, c->cfg_path, c->data_path, c->classes);
    if (ddp_cfg_end_no_loss(&end, text))
        ddp_fault_add(&c->faults, DDP_FAULT_ERROR, "cfg-loss", c->cfg_path, end.last->number, "%s",
                      text);
    if (end.has_softmax && ddp_cfg_end_misfit(&end, c->data_path, c->classes, text))
        ddp_fault_add(&c->faults, DDP_FAULT_ERROR, "cfg-outputs", c->cfg_path, end.line, "%s",
                      text);
}

ddp_status ddp_scan_data_open(ddp_scan_data *c, ddp_error *err)
{
    const ddp_cfg_line *number;
    const char *wrong;

    if (ddp_data_read(&c->data, c->data_path, err) || ddp_sections_read(&c->cfg, c->cfg_path, err)
        || (c->values && ddp_sections_override(&c->cfg, c->values, err)))
        return err->code;
    ddp_check_bom(&c->faults, c->data_path, c->data.has_mark);
    ddp_check_bom(&c->faults, c->cfg_path, c->cfg.has_mark);
    number = ddp_data_bad_number(&c->data, &wrong);
    if (number)
        ddp_fault_add(&c->faults, DDP_FAULT_ERROR, "data-number", c->data_path, number->number,
                      "%s=%s: %s", number->key, number->value, wrong);
    if (!number || strcmp(number->key, "classes") != 0)
        c->classes = ddp_sections_whole(&c->data, "classes", 0);
    c->by_class = calloc((size_t)c->classes + 1, sizeof *c->by_class);
    if (!c->by_class)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d classes", c->classes);
    c->list_path = read_lines(c, "train", &c->list, ddp_lines_read);
    c->valid_path = read_lines(c, "valid", &c->valid, ddp_lines_read);
    compare_cfg(c);
    (void)read_lines(c, names_key(c), &c->names, ddp_names_read);
    ddp_scan_data_check_names(c, &c->faults);
    c->by_names = names_tell(c);
    return DDP_OK;
}

static ddp_check_config config_of(const ddp_scan_data *c)
{
    ddp_check_config config = {.label_path = c->heads.count > 0 ? ddp_label_path : NULL,
                               .second_label_path = ddp_second_label_path,
                               .decode = c->decode,
                               .exif = ddp_exif_orientation,
                               .classes = c->classes ? c->classes : c->heads.classes,
                               .names = c->by_names ? c->names.all : NULL,
                               .missing_is_error = c->missing_is_error};

    if (c->classes == 0) /* by_class has no room */
        config.classes = 0;
    return config;
}

/* Lines first to first + count - 1 of a list. */
static ddp_list_lines part_of(const ddp_lines *lines, const char *path, size_t first, size_t count)
{
    return (ddp_list_lines){path, lines->all + first, lines->numbers + first, count};
}

void ddp_scan_data_check_train(ddp_scan_data *c, size_t first, size_t count)
{
    const ddp_list_lines part = part_of(&c->list, c->list_path, first, count);
    ddp_check_config config = config_of(c);

    config.most_boxes =
        ddp_cfg_of_forks(&c->cfg.cfg) ? c->heads.most_boxes_of_forks : c->heads.most_boxes;
    config.anchors = c->heads.anchor_count ? c->heads.anchors : NULL;
    config.anchor_count = c->heads.anchor_count;
    config.shares = ddp_cfg_keeps_aspect(&c->cfg.cfg) ? ddp_letter_box_shares : NULL;
    config.input[0] = c->heads.width;
    config.input[1] = c->heads.height;
    config.sample = &c->sample;
    ddp_check_pictures(&c->faults, &c->tally, c->by_class, &config, &part);
}

void ddp_scan_data_check_valid(ddp_scan_data *c, size_t first, size_t count)
{
    const ddp_list_lines part = part_of(&c->valid, c->valid_path, first, count);
    ddp_check_config config = config_of(c);
    uint64_t *by_class = calloc((size_t)c->classes + 1, sizeof *by_class);
    ddp_tally tally = {0};

    if (by_class)
        ddp_check_pictures(&c->faults, &tally, by_class, &config, &part);
    else
        c->faults.lost = 1;
    free(by_class);
}

void ddp_scan_data_check_lists(ddp_scan_data *c)
{
    const ddp_list_lines train = part_of(&c->list, c->list_path, 0, c->list.count);
    const ddp_list_lines valid = part_of(&c->valid, c->valid_path, 0, c->valid.count);

    ddp_check_duplicates(&c->faults, &train);
    if (c->valid_path)
        ddp_check_duplicates(&c->faults, &valid);
    ddp_check_same_pictures(&c->faults, &train, c->valid_path ? &valid : NULL);
}

int ddp_scan_data_has_no_labels(const ddp_scan_data *c, ddp_error *why)
{
    if (c->heads.count == 0 || c->tally.pictures == 0
        || c->tally.without_labels < c->tally.pictures)
        return 0;
    return ddp_label_files_none(c->list.all[0], why) != DDP_OK;
}

void ddp_scan_data_check_boxes(const ddp_scan_data *c, ddp_faults *f)
{
    enum { FEW = 20, SHARE = 10 };
    const ddp_tally *t = &c->tally;

    if (c->heads.count == 0 || t->pictures == 0)
        return;
    if (t->boxes == 0 && !ddp_faults_have(&c->faults, "label-"))
        ddp_fault_add(f, DDP_FAULT_WARNING, "labels-empty", c->list_path, 0,
                      "none of %" PRIu64
                      " pictures has a box: a network learns here to find nothing",
                      t->pictures);
    if (t->beyond >= FEW && t->beyond * SHARE >= t->boxes)
        ddp_fault_add(f, DDP_FAULT_WARNING, "labels-corners", c->list_path, 0,
                      "%" PRIu64 " of %" PRIu64
                      " boxes reach beyond the edge of their picture: a label is CLASS X Y WIDTH "
                      "HEIGHT, and X Y are the middle of the box, no corner",
                      t->beyond, t->boxes);
}
