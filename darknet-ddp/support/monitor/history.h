/* monitor/history.h: keeps a run's figures for drawing, in memory that does not grow with the run.
 *
 * The caller adds a row for each step: a number for each column, NaN if it was not measured. At
 * first each row is a point. Whenever there are too many points, each two neighbours become one. A
 * point has the mean, the least and the greatest value of each column, so that a drawing hides no
 * peak. */
#ifndef DDP_MONITOR_HISTORY_H
#define DDP_MONITOR_HISTORY_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_history ddp_history;

/* One column in one point, of `count` rows that measured it. With count 0 the others are NaN. */
typedef struct ddp_history_value {
    size_t count;
    double mean, least, greatest;
} ddp_history_value;

/* Make a history of `columns` columns and at most `points` points. points must be even and at
 * least 2. *out is set on success. Fails with DDP_ERR_USAGE (points is odd or 0), DDP_ERR_NOMEM. */
ddp_status ddp_history_open(ddp_history **out, size_t columns, size_t points,
                            ddp_error *err) DDP_MUST_CHECK;
void ddp_history_close(ddp_history *h); /* frees h; NULL is allowed */

/* Add a row, values[0..columns), at x, its step for example. x must not fall from row to row. */
void ddp_history_add(ddp_history *h, double x, const double *values);

/* Return how many points there are. */
size_t ddp_history_points(const ddp_history *h);
/* Return how many rows are in each point; the last may have fewer. */
size_t ddp_history_rows_a_point(const ddp_history *h);
/* Return the x that ddp_history_add got with the last row of point number `point`, from 0. */
double ddp_history_x(const ddp_history *h, size_t point);
/* Return the values of a column in a point; both count from 0. */
ddp_history_value ddp_history_at(const ddp_history *h, size_t point, size_t column);

#endif
