/* monitor/csv.h: figures of a run in a file that any spreadsheet, and pandas, reads.
 *
 * The first line names the columns, the first of which is the step; each other line is a row. A
 * value that is not known is empty. Writing is buffered: a row goes to the system with the first
 * row that comes a second later, or when the file is closed. A full disk stops nothing: rows wait
 * for room, some megabytes of them, the file holds whole rows alone, and what is lost is
 * counted.
 */
#ifndef DDP_MONITOR_CSV_H
#define DDP_MONITOR_CSV_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_csv ddp_csv;

/* Open path for a run that has done `step` steps. Rows of later steps, which a run that stopped and
 * now goes on from an earlier checkpoint left there, are removed; so is a last line that is not
 * whole. What another process that has the file open still writes does not come into it. A line
 * that is no row stays. A file with other columns is put aside as PATH.old, or
 * PATH.old.2 and so on, the first that is not there. With step 0 the file begins anew, and
 * one that is there is put aside, too.
 * each   called with the values[0..columns) of each row that stays; NULL: nobody asks
 * names  must outlive the file; without commas, quotes and newlines
 * *out is set on success. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_csv_open(ddp_csv **out, const char *path, const char *const *names, size_t columns,
                        uint64_t step, void (*each)(void *ctx, const double *values), void *ctx,
                        ddp_error *err) DDP_MUST_CHECK;

/* Is this so of the values[0..columns) of a row of the file at path? 0 where its columns are
 * others, or there is none. names as above. */
int ddp_csv_any(const char *path, const char *const *names, size_t columns,
                int (*is_so)(void *ctx, const double *values), void *ctx);

/* Before ddp_csv_open cuts rows that are to stay: copy the file at path to old[size], named as
 * above, or rename it so where there is no room for a copy. Fails with DDP_ERR_IO, DDP_ERR_NOMEM.
 */
ddp_status ddp_csv_copy(const char *path, char *old, size_t size, ddp_error *err) DDP_MUST_CHECK;

/* The name under which ddp_csv_open has put a file aside; NULL: it has not. */
const char *ddp_csv_old(const ddp_csv *c);

/* Add a row; values[0] is its step. NaN: not known. */
void ddp_csv_add(ddp_csv *c, const double *values);

/* Put a row in the place of the last one that ddp_csv_open has found, before any is added; or
 * behind it, where a line that is no row follows. */
void ddp_csv_replace_last(ddp_csv *c, const double *values);

/* Hand what is buffered to the system, if the last time was a second ago or `now` is set. */
void ddp_csv_flush(ddp_csv *c, int now);

/* Where the file at path, as which it was opened, is not there any more: it comes back with all
 * its rows (ddp_file_bring_back). */
void ddp_csv_bring_back(ddp_csv *c, const char *path);

/* How many rows are not in the file, lost or waiting, after the last flush, and why: NULL, or the
 * system's words. */
size_t ddp_csv_lost(const ddp_csv *c, const char **why);

void ddp_csv_close(ddp_csv *c); /* NULL is allowed */

#endif
