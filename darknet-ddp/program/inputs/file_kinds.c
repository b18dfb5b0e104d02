#include "inputs/file_kinds.h"

#include "check/cfg_end.h"
#include "glue/cfg.h"
#include "inputs/data_keys.h"
#include "inputs/weights_file.h"

#include <stdlib.h>
#include <string.h>

static const ddp_cfg_line *first_line(const ddp_sections *file)
{
    return file->cfg.count > 0 ? &file->cfg.lines[0] : NULL;
}

ddp_status ddp_kind_check_data(const ddp_sections *data, const char *path, ddp_error *err)
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
    return DDP_OK;
}

/* wanted: what stands at this place. */
static ddp_status check_framework(const char *path, const char *wanted, ddp_error *err)
{
    if (!path || !ddp_is_foreign_model(path))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "%s is another framework's, by its name, and %s", path,
                    wanted);
}

ddp_status ddp_kind_check_names(const ddp_arguments *a, ddp_error *err)
{
    if (check_framework(a->data,
                        "a .data file of Darknet is wanted in its place: lines such as classes=3, "
                        "train=train.list, valid=valid.list, names=x.names, backup=backup",
                        err)
        || check_framework(a->cfg,
                           "a Darknet cfg is wanted in its place: `darknet ddp cfg yolov4-tiny "
                           "-data x.data -o x.cfg` writes one",
                           err)
        || check_framework(a->weights,
                           "Darknet's weights are wanted in its place, such as "
                           "yolov4-tiny.conv.29; without any, training begins with random ones",
                           err))
        return err->code;
    return DDP_OK;
}

ddp_status ddp_kind_check_weights(const ddp_arguments *a, ddp_error *err)
{
    const struct {
        const char *path, *what;
    } places[] = {{a->data, "a .data file"}, {a->cfg, "a cfg"}};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (places[i].path && ddp_is_weights_file(places[i].path))
            return ddp_fail(err, DDP_ERR_USAGE,
                            "%s is a weights file, and %s is wanted in its place: weights come "
                            "after the cfg",
                            places[i].path, places[i].what);
    if (a->weights && !ddp_may_be_weights(a->weights))
        return ddp_fail(
            err, DDP_ERR_USAGE,
            "%s is no weights file, and stands where weights would: they are Darknet's, "
            "such as yolov4-tiny.conv.29",
            a->weights);
    return DDP_OK;
}

ddp_status ddp_kind_check_cfg(const ddp_sections *cfg, const char *path, ddp_error *err)
{
    const ddp_cfg_line *first = first_line(cfg);

    if (!first || !first->value || !ddp_data_is_key(first->key))
        return DDP_OK; /* what is wrong with a cfg Darknet says, with its line */
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%s is no cfg (it begins with %s=%s): the .data file comes before the cfg",
                    path, first->key, first->value);
}

ddp_status ddp_kind_check_length(const ddp_arguments *a, const ddp_sections *cfg, ddp_error *err)
{
    const ddp_cfg_line *line = ddp_sections_line(cfg, "max_batches");
    const ddp_cfg_line *policy = ddp_sections_line(cfg, "policy");

    if (!a->has_epochs && policy && strcmp(policy->value, "poly") == 0
        && ddp_cfg_whole(line, 0) == 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s:%d: policy=poly: the rate falls to 0 at max_batches=, which is %s",
                        a->cfg, line ? line->number : policy->number, line ? "0" : "not there");
    if (strcmp(a->command, "detector") != 0 || a->has_epochs || !line
        || line->value[strspn(line->value, "+-0.")])
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%s:%d: max_batches=%s: nothing would be trained; it says how many batches to "
                    "train",
                    a->cfg, line->number, line->value);
}

static int size_of(const ddp_sections *cfg, const char *key, int given)
{
    return given ? given : ddp_sections_whole(cfg, key, 0);
}

ddp_status ddp_kind_check_square(const ddp_arguments *a, const ddp_sections *cfg, ddp_error *err)
{
    int width = size_of(cfg, "width", a->width), height = size_of(cfg, "height", a->height);

    if (strcmp(a->command, "classifier") != 0 || width == height)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%s: width=%d and height=%d: a classifier is trained on squares", a->cfg, width,
                    height);
}

static ddp_status check_is_detector(const ddp_arguments *a, const ddp_cfg_end *end, ddp_error *err)
{
    if (end->head || !end->last)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%s:%d: %s is the last section, and none is [yolo], [region] or [detection]: "
                    "this is no detector's cfg%s",
                    a->cfg, end->last->number, end->last->key,
                    end->has_softmax ? " but a classifier's, for classifier train" : "");
}

static ddp_status check_is_classifier(const ddp_arguments *a, const ddp_cfg_end *end,
                                      const ddp_sections *data, ddp_error *err)
{
    char text[DDP_MISFIT_TEXT];

    if (end->head)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s:%d: %s: this is a detector's cfg, for detector train, and classifier "
                        "train was asked for",
                        a->cfg, end->head->number, end->head->key);
    if (!ddp_cfg_end_misfit(end, a->data, ddp_sections_whole(data, "classes", 0), text))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "%s:%d: %s", a->cfg, end->line, text);
}

ddp_status ddp_kind_check_network(const ddp_arguments *a, const ddp_sections *cfg,
                                  const ddp_sections *data, ddp_error *err)
{
    ddp_cfg_end end = ddp_cfg_end_of(&cfg->cfg);
    char text[DDP_MISFIT_TEXT];

    if (ddp_cfg_has_unknown_section(&cfg->cfg))
        return DDP_OK;
    if (strcmp(a->command, "detector") == 0)
        return check_is_detector(a, &end, err);
    if (ddp_cfg_end_no_loss(&end, text))
        return ddp_fail(err, DDP_ERR_USAGE, "%s:%d: %s", a->cfg, end.last->number, text);
    return strcmp(a->command, "classifier") == 0 ? check_is_classifier(a, &end, data, err) : DDP_OK;
}
