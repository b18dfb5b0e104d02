/* monitor/tensorboard.h: writes scalars to an event file for TensorBoard.
 *
 * The format is TFRecord (length, its masked CRC-32C, data, its masked CRC-32C, little-endian).
 * Each record holds an Event message of protocol buffers; the first one has the version
 * "brain.Event:2". */
#ifndef DDP_MONITOR_TENSORBOARD_H
#define DDP_MONITOR_TENSORBOARD_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_tensorboard ddp_tensorboard;

/* Make a new event file in a folder. The folder is made if its parent exists. time_s: now, in
 * seconds since 1970, for the file's name and the first event. *out is set on success. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_tensorboard_open(ddp_tensorboard **out, const char *folder, double time_s,
                                ddp_error *err) DDP_MUST_CHECK;

/* Add the value of a tag, cut to 255 bytes, at a step. time_s: now, in seconds since 1970. Values
 * wait in memory; all are written if a second has passed since the last write. If 4 MB wait
 * already, for example since the disk is full, the value is dropped (ddp_tensorboard_lost). */
void ddp_tensorboard_add(ddp_tensorboard *t, double time_s, int64_t step, const char *tag,
                         float value);

/* Write waiting values to the file. ddp_tensorboard_lost tells of a failure. */
void ddp_tensorboard_flush(ddp_tensorboard *t);

/* Return how many events, the first one included, are not in the file: dropped, or waiting
 * because the last flush failed. *why becomes the system's words for that failure; NULL if it did
 * not fail. */
size_t ddp_tensorboard_lost(const ddp_tensorboard *t, const char **why);

/* Write waiting values, close the file, and free t. NULL is allowed. Tells of no failure: call
 * ddp_tensorboard_flush and ddp_tensorboard_lost before. */
void ddp_tensorboard_close(ddp_tensorboard *t);

#endif
