/* monitor/csv.h: writes a run's figures to a CSV file, which spreadsheets and pandas read, and goes
 * on in the file of an earlier run.
 *
 * The first line names the columns, the first of which is the step; rows follow. An unknown value
 * is empty. ddp_csv_add writes rows at most once a second; ddp_csv_replace_last, closing and
 * ddp_csv_flush(c, 1) write the rest. If a write fails, the file is cut after a whole row. Rows
 * then wait in memory, up to 4 MB; those beyond are dropped and counted.
 *
 * An earlier file in which the run does not go on, if not empty, gets an old name: PATH.old, or
 * PATH.old.2 and so on, the first that is not there. */
#ifndef DDP_MONITOR_CSV_H
#define DDP_MONITOR_CSV_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_csv ddp_csv;

/* Open the file at path for a run that goes on after `step` steps, 0 for a new run. Keeps the rows
 * up to that step, and removes those of later steps, which the run makes again. If step is 0, or
 * the file cannot be read or has other columns, gives it an old name (removes it if it is empty),
 * and begins a new file.
 *   names   names of the columns, without commas, quotes and newlines; must outlive *out
 *   each    called with the values[0..columns) of each row that is kept; may be NULL
 * *out is set on success. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_csv_open(ddp_csv **out, const char *path, const char *const *names, size_t columns,
                        uint64_t step, void (*each)(void *ctx, const double *values), void *ctx,
                        ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if is_so(ctx, values) is not 0 for a row values[0..columns) of the file at path. Else
 * returns 0, also if the file is not there or has other columns. */
int ddp_csv_any(const char *path, const char *const *names, size_t columns,
                int (*is_so)(void *ctx, const double *values), void *ctx);

/* Copy the file at path to an old name, before ddp_csv_open removes rows of it. If it cannot be
 * copied, rename it: ddp_csv_open then begins a new file. Writes the old name to old[0..size).
 * Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_csv_copy(const char *path, char *old, size_t size, ddp_error *err) DDP_MUST_CHECK;

/* Return the old name that ddp_csv_open gave to an earlier file; c owns it. NULL: it gave none. */
const char *ddp_csv_old(const ddp_csv *c);

/* Add a row of a value for each column. values[0] is the step; NaN is an unknown value. */
void ddp_csv_add(ddp_csv *c, const double *values);

/* Replace the last row that ddp_csv_open kept by a row of `values`, and write it to the file. If no
 * row was kept, or a line that is no row stands behind the last one, add the row instead. Call
 * before ddp_csv_add. */
void ddp_csv_replace_last(ddp_csv *c, const double *values);

/* Write waiting rows to the file. With now 0, do so only if a second has passed since the last
 * flush. ddp_csv_lost tells of a failure. */
void ddp_csv_flush(ddp_csv *c, int now);

/* If the file was removed from path, where it was opened, write it anew with all its rows
 * (ddp_file_bring_back). */
void ddp_csv_bring_back(ddp_csv *c, const char *path);

/* Return how many rows are not in the file: dropped, or waiting because the last flush failed. *why
 * becomes the system's words for that failure; NULL if it did not fail. */
size_t ddp_csv_lost(const ddp_csv *c, const char **why);

/* Write waiting rows, close the file, and free c. NULL is allowed. Tells of no failure: call
 * ddp_csv_flush(c, 1) and ddp_csv_lost before. */
void ddp_csv_close(ddp_csv *c);

#endif
