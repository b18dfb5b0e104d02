/* saves/done_marker.h: writes the file NAME.finished beside the weights when a run is finished, by
 * max_batches= or -patience, and all is saved. By this file a script that restarts jobs knows a
 * finished run from one that a signal ended, since both exit with status 0. Rank 0 writes it. */
#ifndef DDP_SAVES_DONE_MARKER_H
#define DDP_SAVES_DONE_MARKER_H

/* Set the path of the file: in `directory`, with the name of the cfg. Call before
 * ddp_done_marker_begin and ddp_done_marker_write. */
void ddp_done_marker_open(const char *directory, const char *cfg);

/* Return 1 if `folder` has the file of a run with the name `base`. */
int ddp_done_marker_is_in(const char *folder, const char *base);

/* Remove the file that an earlier run has left. Call when this run begins; later calls do nothing.
 * If the file cannot be removed, a line on standard error says so. */
void ddp_done_marker_begin(void);

/* Write the file, if it does not exist. Call when the run is finished, after all its other files
 * are written: scripts wait for it. Does nothing without ddp_done_marker_open, or a second time. If
 * it cannot be written, a line on standard error says so. */
void ddp_done_marker_write(void);

#endif
