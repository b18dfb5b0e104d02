/* saves/done_marker.h: NAME.finished beside the weights: the run has come to its end, by
 * max_batches= or -patience, and all of it is saved. For scripts that start a job again until it
 * has: a run that a signal ended has the same exit status. On rank 0. */
#ifndef DDP_SAVES_DONE_MARKER_H
#define DDP_SAVES_DONE_MARKER_H

/* A run of this cfg is about to begin, with its weights in directory. */
void ddp_done_marker_open(const char *directory, const char *cfg);

/* Has the run of this base name whose files lie in the folder come to its end? */
int ddp_done_marker_is_in(const char *folder, const char *base);

/* It begins: what an earlier one has left goes. May be called again. */
void ddp_done_marker_begin(void);

/* It has come to its end. Nothing happens without ddp_done_marker_open. What cannot be written is
 * said on standard error. */
void ddp_done_marker_write(void);

#endif
