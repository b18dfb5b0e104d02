/* trainer/label_losses.h: the mean loss of each label while a detector trains on a CPU.
 *
 * A label that is wrong keeps a large loss, since the network learns from all others what should
 * stand there. Each rank adds up the losses of the labels that it trains; ddp_label_losses_gather
 * brings the sums of all ranks together. The first 30 % of a run do not count: then all labels have
 * large losses. */
#ifndef DDP_TRAINER_LABEL_LOSSES_H
#define DDP_TRAINER_LABEL_LOSSES_H

#include "comm/group.h"
#include "glue/network.h"
#include "samples/truth_labels.h"

typedef struct ddp_label_losses ddp_label_losses;

/* A label, and the sum of its losses over `count` visits: times that it was trained. In 2^-32, a
 * sum is exact, so that it is the same in any order of visits. */
typedef struct ddp_label_loss {
    ddp_label_id label;
    uint64_t count, sum;
} ddp_label_loss;

/* Make an empty table. batch: images of a step of all ranks. paths[0..count): the training list,
 * which must outlive the table. *out is NULL on failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_label_losses_open(ddp_label_losses **out, size_t batch, char *const *paths,
                                 size_t count, ddp_error *err) DDP_MUST_CHECK;
void ddp_label_losses_close(ddp_label_losses *l); /* frees l; NULL is allowed */

/* Return the mean loss of a label that was trained. */
double ddp_label_loss_mean(const ddp_label_loss *l);

/* Return the number of the picture at path (ddp_truth_labels_picture). */
size_t ddp_label_losses_picture(const ddp_label_losses *l, const char *path);

/* Add `count` visits of a label, with a mean loss of mean. Without memory nothing is added. */
void ddp_label_losses_add(ddp_label_losses *l, ddp_label_id label, uint64_t count, double mean);

/* Note of which label, by path and line, truth n of a sample is (ddp_truth_labels_set). Any thread.
 * l may be NULL. */
void ddp_label_losses_truth(ddp_label_losses *l, size_t sample, int n, const char *path, int line);

/* Add the losses of the truths that layer `layer`, a [yolo], has trained in net's mini-batch. Call
 * after the layer's forward pass. Does nothing on a GPU, for another layer, or if l is NULL. */
void ddp_label_losses_add_mini_batch(ddp_label_losses *l, const network *net, int layer);

/* Collective. On rank 0, set *all to the losses of the labels that any rank has trained, by picture
 * and line, and *count to how many they are. On other ranks these become NULL and 0. The caller
 * frees *all. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_label_losses_gather(const ddp_label_losses *l, ddp_group *group,
                                   ddp_label_loss **all, size_t *count,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
