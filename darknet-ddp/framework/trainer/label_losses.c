#include "trainer/label_losses.h"

#include "comm/collectives.h"
#include "glue/train_position.h"
#include "layers/heads/yolo_v4.h"

#include <math.h>
#include <stdlib.h>

#define UNIT 4294967296.0 /* of a sum, in 1 */

enum { UNCOUNTED_PERCENT = 30, TRUTH_VALUES = 5 };

/* Sums of the labels of one picture, by line. */
struct picture {
    ddp_label_loss *lines; /* lines[i]: of line i + 1 */
    uint32_t count;
};

struct ddp_label_losses {
    ddp_truth_labels *truths;
    struct picture *pictures; /* by number in the list */
    size_t picture_count;
};

ddp_status ddp_label_losses_open(ddp_label_losses **out, size_t batch, char *const *paths,
                                 size_t count, ddp_error *err)
{
    ddp_label_losses *l = calloc(1, sizeof *l);

    *out = NULL;
    if (l)
        l->pictures = calloc(count + 1, sizeof *l->pictures);
    if (!l || !l->pictures)
        (void)ddp_fail(err, DDP_ERR_NOMEM, "no memory for the losses of labels");
    /* A batch is loaded while the one before is trained. */
    else if (!ddp_truth_labels_open(&l->truths, 2 * batch, paths, count, err)) {
        l->picture_count = count;
        *out = l;
        return DDP_OK;
    }
    ddp_label_losses_close(l);
    return err->code;
}

void ddp_label_losses_close(ddp_label_losses *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->picture_count; i++)
        free(l->pictures[i].lines);
    free(l->pictures);
    ddp_truth_labels_close(l->truths);
    free(l);
}

void ddp_label_losses_set_truth(ddp_label_losses *l, size_t sample, int n, const char *path,
                                int line)
{
    if (l)
        ddp_truth_labels_set(l->truths, sample, n, path, line);
}

/* Return the sum of a label; NULL if there is no memory for it. */
static ddp_label_loss *loss_of(struct picture *p, ddp_label_id label)
{
    ddp_label_loss *grown;

    if (label.line > p->count) {
        grown = realloc(p->lines, label.line * sizeof *grown);
        if (!grown)
            return NULL;
        for (uint32_t i = p->count; i < label.line; i++)
            grown[i] = (ddp_label_loss){.label = {label.picture, i + 1}};
        p->lines = grown;
        p->count = label.line;
    }
    return &p->lines[label.line - 1];
}

size_t ddp_label_losses_find_picture(const ddp_label_losses *l, const char *path)
{
    return ddp_truth_labels_find_picture(l->truths, path);
}

double ddp_label_loss_mean(const ddp_label_loss *l)
{
    return (double)l->sum / UNIT / (double)l->visits;
}

void ddp_label_losses_add(ddp_label_losses *l, ddp_label_id label, uint64_t visits, double mean)
{
    ddp_label_loss *sum = loss_of(&l->pictures[label.picture], label);

    if (!sum)
        return;
    sum->sum += (uint64_t)llrint(mean * (double)visits * UNIT);
    sum->visits += visits;
}

static void add_picture(ddp_label_losses *l, const network *net, const layer *head, int b)
{
    const float *truth = net->truth + (size_t)b * (size_t)head->truths;
    ddp_label_id label;

    for (int t = 0; t < head->max_boxes && truth[0] != 0; t++, truth += TRUTH_VALUES) {
        float loss = yolo_truth_loss(*head, *net, b, truth);

        if (loss >= 0 && ddp_truth_labels_find(l->truths, net->sample + (size_t)b, t, &label))
            ddp_label_losses_add(l, label, 1, (double)loss);
    }
}

void ddp_label_losses_add_mini_batch(ddp_label_losses *l, const network *net, int layer)
{
    ddp_train_position now;
    size_t step; /* of this mini-batch, from 1 */

    if (!l || net->gpu_index >= 0 || net->layers[layer].type != YOLO)
        return;
    now = ddp_train_position_of(net);
    step = now.step + (now.begun > 0);
    if (100 * step <= UNCOUNTED_PERCENT * now.last_step)
        return;
    for (int b = 0; b < net->batch; b++)
        add_picture(l, net, &net->layers[layer], b);
}

/* Set *own to this rank's sums, and *count to how many they are. */
static ddp_status list_own(const ddp_label_losses *l, ddp_label_loss **own, size_t *count,
                           ddp_error *err)
{
    size_t lines = 0;

    *count = 0;
    for (size_t i = 0; i < l->picture_count; i++)
        lines += l->pictures[i].count;
    *own = malloc((lines + 1) * sizeof **own);
    if (!*own)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the losses of %zu labels", lines);
    for (size_t i = 0; i < l->picture_count; i++)
        for (uint32_t k = 0; k < l->pictures[i].count; k++)
            if (l->pictures[i].lines[k].visits > 0)
                (*own)[(*count)++] = l->pictures[i].lines[k];
    return DDP_OK;
}

static int by_label(const void *a, const void *b)
{
    const ddp_label_id *x = &((const ddp_label_loss *)a)->label;
    const ddp_label_id *y = &((const ddp_label_loss *)b)->label;

    if (x->picture != y->picture)
        return x->picture < y->picture ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Add up the entries of each label. Returns how many are left. */
static size_t merge(ddp_label_loss *all, size_t count)
{
    size_t kept = 0;

    qsort(all, count, sizeof *all, by_label);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_label(&all[kept - 1], &all[i]) == 0) {
            all[kept - 1].sum += all[i].sum;
            all[kept - 1].visits += all[i].visits;
        } else
            all[kept++] = all[i];
    }
    return kept;
}

ddp_status ddp_label_losses_gather(const ddp_label_losses *l, ddp_group *group,
                                   ddp_label_loss **all, size_t *count, ddp_error *err)
{
    ddp_label_loss *own = NULL;
    size_t bytes = 0, own_count = 0;
    void *joined = NULL;
    ddp_status st = list_own(l, &own, &own_count, err);

    if (!st)
        st = ddp_concatenate_on_first(group, own, own_count * sizeof *own, &joined, &bytes, err);
    free(own);
    if (st) {
        free(joined);
        joined = NULL;
    }
    *all = joined;
    *count = joined ? merge(*all, bytes / sizeof **all) : 0;
    return st;
}
