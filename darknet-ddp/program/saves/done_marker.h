/* saves/done_marker.h: NAME.finished beside the weights: the run has come to its end, by
 * max_batches= or -patience, and all of it is saved. For scripts that start a job again until it
 * has: a run that a signal ended has the same exit status. On rank 0. */
#ifndef DDP_SAVES_DONE_MARKER_H
#define DDP_SAVES_DONE_MARKER_H

/* Name the file of a run of this cfg, which saves in directory. Call before the other functions. */
void ddp_done_marker_open(const char *directory, const char *cfg);

/* Return 1 if the run of this base name whose files lie in the folder has come to its end. */
int ddp_done_marker_is_in(const char *folder, const char *base);

/* Remove the file that an earlier run has left. Call when the run begins; once more does nothing.
 */
void ddp_done_marker_begin(void);

/* Write the file: the run has come to its end. Does nothing without ddp_done_marker_open. A line on
 * standard error says if it cannot be written. */
void ddp_done_marker_write(void);

#endif
