/* trainer/label_losses.h: adds up each label's losses in [yolo] layers while a detector trains on a
 * CPU, so that `darknet ddp suspects` can rank labels that may be wrong.
 *
 * A wrong label often keeps a large loss, since the network learns from other labels what should be
 * there. Each rank adds up the losses of the labels that it trains. ddp_label_losses_gather then
 * joins the sums of all ranks. Losses in the first 30 % of max_batches= steps are left out, because
 * all labels have large losses then. */
#ifndef DDP_TRAINER_LABEL_LOSSES_H
#define DDP_TRAINER_LABEL_LOSSES_H

#include "comm/group.h"
#include "glue/network.h"
#include "samples/truth_labels.h"

typedef struct ddp_label_losses ddp_label_losses;

/* The losses of one label. */
typedef struct ddp_label_loss {
    ddp_label_id label;
    uint64_t visits; /* how many losses of the label are in `sum` */
    uint64_t sum;    /* sum of its losses in units of 2^-32, which adds up alike in any order */
} ddp_label_loss;

/* Open an empty table. batch: images of a step, of all ranks. paths[0..count): the training list,
 * which must outlive the table. *out is NULL on failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_label_losses_open(ddp_label_losses **out, size_t batch, char *const *paths,
                                 size_t count, ddp_error *err) DDP_MUST_CHECK;
void ddp_label_losses_close(ddp_label_losses *l); /* frees l; NULL is allowed */

/* Return the label's mean loss. l->visits must not be 0. */
double ddp_label_loss_mean(const ddp_label_loss *l);

/* Return the first index of the picture at path in the training list; SIZE_MAX: it has none. */
size_t ddp_label_losses_find_picture(const ddp_label_losses *l, const char *path);

/* Add `visits` losses of a label whose mean is `mean`, 0 or more. label.picture must be in
 * the training list. Adds nothing if there is no memory. */
void ddp_label_losses_add(ddp_label_losses *l, ddp_label_id label, uint64_t visits, double mean);

/* Note that truth n (from 0) of a sample is line `line` (from 1) of the label file of the picture
 * at path. Call for a sample's truths in order. Any thread, but one at a time for a sample. If path
 * is not in the list, or there is no memory, notes neither this truth nor the sample's later ones.
 * Does nothing if l is NULL. */
void ddp_label_losses_set_truth(ddp_label_losses *l, size_t sample, int n, const char *path,
                                int line);

/* Add the losses of the labels that [yolo] layer `layer` has trained in net's mini-batch. Call
 * after that layer's forward pass. Does nothing on a GPU, for another type, or if l is NULL. */
void ddp_label_losses_add_mini_batch(ddp_label_losses *l, const network *net, int layer);

/* Join the losses of all ranks on rank 0 (collective). There (*all)[0..*count) becomes one entry
 * for each label with losses, sorted by picture and line. On other ranks, and on failure, *all
 * becomes NULL, and *count 0. The caller frees *all. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_label_losses_gather(const ddp_label_losses *l, ddp_group *group,
                                   ddp_label_loss **all, size_t *count,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
