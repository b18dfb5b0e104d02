#include "show/csv_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Classes that have a column; if there are more, none has. */
enum { CLASSES_MOST = 1000 };

static const char *const fixed[DDP_COLUMNS] = {
    [DDP_COLUMN_STEP] = "step",
    [DDP_COLUMN_IMAGES] = "images",
    [DDP_COLUMN_EPOCH] = "epoch",
    [DDP_COLUMN_LOSS] = "loss",
    [DDP_COLUMN_AVERAGE] = "average_loss",
    [DDP_COLUMN_RATE] = "rate",
    [DDP_COLUMN_SPEED] = "images_per_s",
    [DDP_COLUMN_LOADER] = "loader_s",
    [DDP_COLUMN_FORWARD] = "forward_s",
    [DDP_COLUMN_BACKWARD] = "backward_s",
    [DDP_COLUMN_COMMUNICATION] = "communication_s",
    [DDP_COLUMN_UPDATE] = "update_s",
    [DDP_COLUMN_SAVE] = "save_s",
    [DDP_COLUMN_MEMORY] = "memory_mib",
    [DDP_COLUMN_VALIDATION] = "validation_s",
};

/* Columns behind the fixed ones, in this order. */
static const char *const of_detector[] = {"map", "map50", "precision", "recall", "iou"};
static const char *const of_classifier[] = {"top1", "topk", "validation_loss"};

enum {
    MAP = DDP_COLUMNS,
    MAP50,
    PRECISION,
    RECALL,
    IOU,
    EACH,
    TOP1 = DDP_COLUMNS,
    TOPK,
    VALIDATION_LOSS,
    CLASSIFIERS
};

void ddp_csv_columns_release(ddp_csv_columns *c)
{
    for (size_t i = 0; c->names && i < c->count; i++)
        free(c->names[i]);
    free(c->names);
    *c = (ddp_csv_columns){0};
}

/* Return the name of a class's column, which needs no quotes in a CSV file. The caller frees it. */
static char *class_name(const ddp_validation_result *kind, size_t class)
{
    char *name = NULL;
    int bytes = kind->names ? asprintf(&name, "ap_%s", kind->names[class])
                            : asprintf(&name, "ap_%zu", class);

    if (bytes < 0)
        return NULL;
    for (char *at = name; *at; at++)
        if (strchr(",\"\r\n", *at))
            *at = '_';
    return name;
}

/* Return the name of a head's column: "yolo_82_box". The caller frees it. */
static char *head_name(const ddp_head_layers *heads, size_t place)
{
    static const char *const parts[DDP_HEAD_COLUMNS] = {[DDP_HEAD_BOX] = "box",
                                                        [DDP_HEAD_OBJECT] = "objectness",
                                                        [DDP_HEAD_CLASS] = "class",
                                                        [DDP_HEAD_IOU] = "iou"};
    size_t head = place / DDP_HEAD_COLUMNS;
    char *name;

    if (asprintf(&name, "%s_%d_%s", heads->kinds[head], heads->layers[head],
                 parts[place % DDP_HEAD_COLUMNS])
        < 0)
        return NULL;
    return name;
}

static char *name_of(const ddp_csv_columns *c, const ddp_validation_result *kind,
                     const ddp_head_layers *heads, size_t column)
{
    if (column < DDP_COLUMNS)
        return strdup(fixed[column]);
    if (column >= c->heads)
        return head_name(heads, column - c->heads);
    if (kind->is_classifier)
        return strdup(of_classifier[column - DDP_COLUMNS]);
    if (column < EACH)
        return strdup(of_detector[column - DDP_COLUMNS]);
    return class_name(kind, column - c->each);
}

static void count(ddp_csv_columns *c, const ddp_validation_result *kind, int best)
{
    c->count = DDP_COLUMNS;
    if (kind && kind->is_classifier) {
        c->count = CLASSIFIERS;
        c->key = TOP1;
    } else if (kind) {
        c->each = EACH;
        c->classes = kind->classes <= CLASSES_MOST ? (size_t)kind->classes : 0;
        c->count = EACH + c->classes;
        c->key = best == DDP_BEST_MAP50 ? MAP50 : MAP;
    }
}

ddp_status ddp_csv_columns_init(ddp_csv_columns *c, const ddp_validation_result *kind, int best,
                                const ddp_head_layers *heads, ddp_error *err)
{
    *c = (ddp_csv_columns){0};
    count(c, kind, best);
    c->heads = c->count;
    c->head_count = heads->count;
    c->count += heads->count * DDP_HEAD_COLUMNS;
    c->names = calloc(c->count, sizeof *c->names);
    for (size_t i = 0; c->names && i < c->count; i++) {
        c->names[i] = name_of(c, kind, heads, i);
        if (!c->names[i])
            ddp_csv_columns_release(c);
    }
    if (c->names)
        return DDP_OK;
    ddp_csv_columns_release(c);
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the columns of figures");
}

static void fill_detector(const ddp_csv_columns *c, const ddp_validation_result *r, double *row)
{
    row[MAP] = r->all.ap;
    row[MAP50] = r->all.ap50;
    row[PRECISION] = r->all.precision;
    row[RECALL] = r->all.recall;
    row[IOU] = r->all.mean_iou;
    for (size_t i = 0; i < c->classes; i++)
        row[c->each + i] = r->each[i].truths ? r->each[i].ap : (double)NAN;
}

void ddp_csv_columns_fill_heads(const ddp_csv_columns *c, const ddp_head_figures *heads,
                                double *row)
{
    for (size_t h = 0; h < c->head_count; h++) {
        double *columns = row + c->heads + h * DDP_HEAD_COLUMNS;

        columns[DDP_HEAD_BOX] = heads[h].box;
        columns[DDP_HEAD_OBJECT] = heads[h].object;
        columns[DDP_HEAD_CLASS] = heads[h].category;
        columns[DDP_HEAD_IOU] = heads[h].iou;
    }
}

void ddp_csv_columns_fill(const ddp_csv_columns *c, const ddp_validation_result *result,
                          double *row)
{
    for (size_t i = DDP_COLUMNS; i < c->heads; i++)
        row[i] = NAN;
    row[DDP_COLUMN_VALIDATION] = result ? result->seconds : (double)NAN;
    if (result && result->is_classifier) {
        row[TOP1] = result->accuracy.top1;
        row[TOPK] = result->accuracy.topk;
        row[VALIDATION_LOSS] = result->accuracy.loss;
    } else if (result) {
        fill_detector(c, result, row);
    }
}
