/* show/csv_columns.h: names the columns of NAME.csv, which has a row for each step, and fills those
 * of heads and validation. */
#ifndef DDP_SHOW_CSV_COLUMNS_H
#define DDP_SHOW_CSV_COLUMNS_H

#include "base/status.h"
#include "trainer/plugin.h"
#include "validate/schedule.h"

#include <stddef.h>

/* The first columns, which every run has. Those of its validation and its heads follow. Times are
 * in seconds, on rank 0; NaN: not measured. */
enum {
    DDP_COLUMN_STEP,
    DDP_COLUMN_IMAGES,  /* images of all ranks since the network was new */
    DDP_COLUMN_EPOCH,   /* images divided by lines of the training list */
    DDP_COLUMN_LOSS,    /* mean loss of an image in this step, over all ranks */
    DDP_COLUMN_AVERAGE, /* Darknet's running average of the loss */
    DDP_COLUMN_RATE,    /* learning rate */
    DDP_COLUMN_SPEED,   /* images a second, of all ranks */
    DDP_COLUMN_LOADER,  /* time waiting for samples */
    DDP_COLUMN_FORWARD,
    DDP_COLUMN_BACKWARD,
    DDP_COLUMN_COMMUNICATION, /* time that the step waited for communication */
    DDP_COLUMN_UPDATE,
    DDP_COLUMN_SAVE,       /* time of saving weights since the row before */
    DDP_COLUMN_MEMORY,     /* most host memory that rank 0 has had, in MiB */
    DDP_COLUMN_VALIDATION, /* time of the validation after this step */
    DDP_COLUMNS
};

typedef struct ddp_csv_columns {
    char **names; /* names of the columns, `count` of them */
    size_t count;
    size_t key;  /* column of the figure by which the best weights are chosen; 0: no validation */
    size_t each; /* first of the columns with each class's average precision */
    size_t classes;    /* how many columns from `each` on; 0: no detector, or over 1,000 classes */
    size_t heads;      /* first of the columns of the heads, DDP_HEAD_COLUMNS for each head */
    size_t head_count; /* number of heads, the [yolo] and [region] layers */
} ddp_csv_columns;

/* The columns of one head, numbered from its first column: loss of boxes, of objects, of classes,
 * and IoU. Losses are means over rank 0's images, IoU over the boxes to be found there. */
enum { DDP_HEAD_BOX, DDP_HEAD_OBJECT, DDP_HEAD_CLASS, DDP_HEAD_IOU, DDP_HEAD_COLUMNS };

/* Set *c to the columns of a run. Release with ddp_csv_columns_release. Fails with DDP_ERR_NOMEM;
 * *c is then empty.
 *   kind   result of ddp_validation_kind; NULL: the run does not validate
 *   best   value of the option -best (options/options.h)
 *   heads  result of ddp_network_heads */
ddp_status ddp_csv_columns_init(ddp_csv_columns *c, const ddp_validation_result *kind, int best,
                                const ddp_head_layers *heads, ddp_error *err) DDP_MUST_CHECK;
/* frees c->names; *c becomes all zero */
void ddp_csv_columns_release(ddp_csv_columns *c);

/* Write loss and IoU of the heads in a step to their columns of row[0..c->count). heads has
 * c->head_count entries. */
void ddp_csv_columns_fill_heads(const ddp_csv_columns *c, const ddp_head_figures *heads,
                                double *row);

/* Write a validation's result to its columns of row[0..c->count); NaN if result is NULL, or for a
 * class without labels. */
void ddp_csv_columns_fill(const ddp_csv_columns *c, const ddp_validation_result *result,
                          double *row);

#endif
