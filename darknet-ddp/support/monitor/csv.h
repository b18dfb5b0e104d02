/* monitor/csv.h: figures of a run in a file that any spreadsheet, and pandas, reads.
 *
 * The first line names the columns, the first of which is the step; each other line is a row. An
 * unknown value is empty. Rows wait until a row is added a second or more after the last write, or
 * the file is closed; then all are written. A full disk stops nothing: rows wait for room, some
 * megabytes of them, and what is lost is counted. The file holds only whole rows. */
#ifndef DDP_MONITOR_CSV_H
#define DDP_MONITOR_CSV_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_csv ddp_csv;

/* Open the file at path for a run that has done `step` steps, and keep its rows up to that step.
 * The file is cut before the first row of a later step: a run that goes on from an earlier
 * checkpoint makes these steps again. A last line that is not whole is removed, too. Lines before
 * the cut that are no rows stay. If the disk has room, a copy takes the file's place. Then another
 * process that has the file open no longer writes to it.
 *
 * A file with other columns, or with step 0 any file, is put aside as PATH.old, or PATH.old.2 and
 * so on, the first that is not there. Then a new one is begun.
 *
 *   each   called with the values[0..columns) of each row that stays; NULL: for none
 *   names  names of the columns; must outlive *out; without commas, quotes and newlines
 *
 * *out is set on success. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_csv_open(ddp_csv **out, const char *path, const char *const *names, size_t columns,
                        uint64_t step, void (*each)(void *ctx, const double *values), void *ctx,
                        ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if is_so(ctx, values) is not 0 for the values[0..columns) of a row of the file at path.
 * Returns 0 if it is for none, or the file is not there or has other columns. */
int ddp_csv_any(const char *path, const char *const *names, size_t columns,
                int (*is_so)(void *ctx, const double *values), void *ctx);

/* Copy the file at path to PATH.old, or PATH.old.2 and so on, the first that is not there. If it
 * cannot be copied, rename it. Call before ddp_csv_open removes rows that are to be kept.
 * Writes the new name to old[0..size). Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_csv_copy(const char *path, char *old, size_t size, ddp_error *err) DDP_MUST_CHECK;

/* Return the name under which ddp_csv_open has put a file aside; c owns it. NULL: none. */
const char *ddp_csv_old(const ddp_csv *c);

/* Add a row of a value for each column. values[0] is the step; NaN is an unknown value. */
void ddp_csv_add(ddp_csv *c, const double *values);

/* Replace the last row that ddp_csv_open found by this one, and write it to the file. If it found
 * none, or a line behind it that is no row, add the row instead. Call before ddp_csv_add. */
void ddp_csv_replace_last(ddp_csv *c, const double *values);

/* Write waiting rows to the file; with now 0, only if a second has passed since the last flush. */
void ddp_csv_flush(ddp_csv *c, int now);

/* If the file is no longer at path, under which it was opened, write it there anew with all its
 * rows (ddp_file_bring_back). */
void ddp_csv_bring_back(ddp_csv *c, const char *path);

/* Return how many rows are not in the file: lost for want of memory, or waiting because the last
 * flush failed. *why: the system's words for that failure; NULL: it did not fail. */
size_t ddp_csv_lost(const ddp_csv *c, const char **why);

void ddp_csv_close(ddp_csv *c); /* writes waiting rows, closes the file, frees c; NULL is allowed */

#endif
