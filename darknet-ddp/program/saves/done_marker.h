/* saves/done_marker.h: NAME.finished, a file beside the weights. It exists when a run has come to
 * its end, by max_batches= or -patience, and all of it is saved. Scripts that start a job again
 * look for it, since a run that a signal ended has the same exit status. On rank 0. */
#ifndef DDP_SAVES_DONE_MARKER_H
#define DDP_SAVES_DONE_MARKER_H

/* Set the path of the file, by the cfg of this run and the directory in which it saves. Call before
 * the other functions, but for ddp_done_marker_is_in. */
void ddp_done_marker_open(const char *directory, const char *cfg);

/* Return 1 if `folder` has the file of a run with the name `base`. */
int ddp_done_marker_is_in(const char *folder, const char *base);

/* Remove the file of an earlier run, when this run begins. Later calls do nothing. If it cannot be
 * removed, a line on standard error says so. */
void ddp_done_marker_begin(void);

/* Write the file, when the run has come to its end; one that is there stays as it is. Does nothing
 * without ddp_done_marker_open, or a second time. If it cannot be written, a line on standard error
 * says so. */
void ddp_done_marker_write(void);

#endif
