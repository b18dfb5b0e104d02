/* run/losses.h: the file NAME.losses beside a run's weights. It has the mean losses of labels
 * (eval/loss_file.h), by which `darknet ddp suspects` finds wrong ones. */
#ifndef DDP_RUN_LOSSES_H
#define DDP_RUN_LOSSES_H

#include "base/status.h"
#include "glue/network.h"

/* On rank 0, read the losses that an earlier part of this run has written to NAME.losses, if there
 * is the file. paths[0..n): the training list. If the file cannot be read, a line says so and the
 * run goes on without them. Does nothing on other ranks, with -ddp_records 0, or if the network has
 * no [yolo]. */
void ddp_losses_resume(char *const *paths, size_t n);

/* Gather the losses of labels (trainer/label_losses.h) from all ranks, and have rank 0 write them
 * to NAME.losses. Call after each save; a second call in one step does nothing. Does nothing if
 * the network has no [yolo]. Until a label has a loss, and with -ddp_records 0, no file is written.
 * If it cannot be written, a line says so once. Collective. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_losses_save(const network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
