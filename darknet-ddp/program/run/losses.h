/* run/losses.h: NAME.losses beside a run's weights, for `darknet ddp suspects`
 * (eval/loss_file.h). */
#ifndef DDP_RUN_LOSSES_H
#define DDP_RUN_LOSSES_H

#include "base/status.h"
#include "glue/network.h"

/* Call when the training list was read. On rank 0, go on with NAME.losses as the run that is
 * resumed has left it; a new run has set it aside. paths[0..n): the list. A file that cannot be
 * read is told of, and stops nothing. */
void ddp_losses_resume(char *const *paths, size_t n);

/* Collective: call after a save. On rank 0, write what the run knows of the losses of labels
 * (trainer/label_losses.h) to NAME.losses, unless that was done in this step. Nothing is written if
 * no loss is known, or with -ddp_records 0. A file that cannot be written is told of one time, and
 * stops nothing. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_losses_save(const network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
