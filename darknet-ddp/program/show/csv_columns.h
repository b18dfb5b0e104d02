/* show/csv_columns.h: the figures of a step as a row: which columns there are, and what is in them.
 */
#ifndef DDP_SHOW_CSV_COLUMNS_H
#define DDP_SHOW_CSV_COLUMNS_H

#include "base/status.h"
#include "trainer/plugin.h"
#include "validate/schedule.h"

#include <stddef.h>

/* Those that every run has; behind them come those of its validation. Times are seconds of rank
 * 0. */
enum {
    DDP_COLUMN_STEP,
    DDP_COLUMN_IMAGES, /* of all ranks, since the network was new */
    DDP_COLUMN_EPOCH,  /* images by lines of the list */
    DDP_COLUMN_LOSS,
    DDP_COLUMN_AVERAGE,
    DDP_COLUMN_RATE,
    DDP_COLUMN_SPEED,  /* images a second, of all ranks */
    DDP_COLUMN_LOADER, /* waiting for samples */
    DDP_COLUMN_FORWARD,
    DDP_COLUMN_BACKWARD,
    DDP_COLUMN_COMMUNICATION, /* that nothing hid */
    DDP_COLUMN_UPDATE,
    DDP_COLUMN_SAVE,       /* weights, since the row before */
    DDP_COLUMN_MEMORY,     /* MiB, the most that rank 0 has had */
    DDP_COLUMN_VALIDATION, /* seconds of this step's validation */
    DDP_COLUMNS
};

typedef struct ddp_csv_columns {
    char **names; /* count of them */
    size_t count;
    size_t key; /* the column of the figure by which the best weights are chosen; 0: none */
    size_t each, classes;     /* the columns of average precision, a class each */
    size_t heads, head_count; /* the columns of heads, DDP_HEAD_COLUMNS each */
} ddp_csv_columns;

/* Of a head: parts of its loss on rank 0, and how well its boxes fit. */
enum { DDP_HEAD_BOX, DDP_HEAD_OBJECT, DDP_HEAD_CLASS, DDP_HEAD_IOU, DDP_HEAD_COLUMNS };

/* kind: of the run's validation; NULL: there is none. best: -best. Release with
 * ddp_csv_columns_release. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_csv_columns_init(ddp_csv_columns *c, const ddp_validation_result *kind, int best,
                                const ddp_head_layers *heads, ddp_error *err) DDP_MUST_CHECK;
void ddp_csv_columns_release(ddp_csv_columns *c);

/* Write what the heads made of a step to their columns of row. */
void ddp_csv_columns_fill_heads(const ddp_csv_columns *c, const ddp_head_figures *heads,
                                double *row);

/* Write what a validation gave to its columns of row; NULL: that there was none. */
void ddp_csv_columns_fill(const ddp_csv_columns *c, const ddp_validation_result *result,
                          double *row);

#endif
