#include "core/loss.h"

#include "base/is_finite.h"
#include "comm/work.h"
#include "core/equal_check.h"
#include "core/tree_sum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    LOSS = DDP_REQUESTS,
    NOT_FINITE,
    COUNTS,
    SAME = COUNTS + DDP_LOSS_COUNTS,
    SENT = SAME + DDP_EQUAL_FLOATS
};

struct ddp_loss {
    int size;
    /* how many ranks have each request; the sum of the finite losses, and how many are not;
     * counts; core/equal_check.h's */
    float sent[SENT];
    ddp_work *sum;
    int started;
    ddp_tree_sum *tree; /* NULL: losses add up in place */
    int folded;         /* mini-batches of this step that the tree holds */
    float last;         /* mean that was finite */
    float mean;         /* of sums that have arrived, until it is taken */
    volatile sig_atomic_t *asked;
    ddp_requests all;
    uint64_t compared; /* with the next sum; 0: nothing is */
    int same;
    int finite;                    /* 1: the last sum that was finished is */
    float counts[DDP_LOSS_COUNTS]; /* to leave with the next sum */
    float sums[DDP_LOSS_COUNTS];   /* that have arrived */
};

ddp_status ddp_loss_open(ddp_loss **out, ddp_group *group, int mini_batches,
                         volatile sig_atomic_t *asked, ddp_error *err)
{
    ddp_loss *l = calloc(1, sizeof *l);
    ddp_status st;

    *out = NULL;
    if (!l)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the loss");
    l->size = ddp_group_size(group);
    l->asked = asked;
    l->same = l->finite = 1;
    st = ddp_allreduce_open(&l->sum, group, l->sent, SENT, err);
    if (!st && mini_batches)
        st = ddp_tree_sum_open(&l->tree, ddp_device_host(), &l->sent[LOSS], 1, mini_batches, err);
    if (st) {
        ddp_loss_close(l);
        return ddp_wrap(err, "loss");
    }
    *out = l;
    return DDP_OK;
}

void ddp_loss_close(ddp_loss *l)
{
    if (!l)
        return;
    ddp_work_close(l->sum);
    ddp_tree_sum_close(l->tree);
    free(l);
}

void ddp_loss_add(ddp_loss *l, int mini_batch, float loss)
{
    l->sent[LOSS] += loss;
    if (!l->tree)
        return;
    ddp_tree_sum_fold(l->tree, mini_batch, 0, 1);
    l->folded = mini_batch + 1;
}

/* A sum that is not finite would tell nothing else. So the losses must not overflow, either. */
static void take_out_not_finite(ddp_loss *l)
{
    const float most = FLT_MAX / (float)l->size;
    const int counts = ddp_all_finite(&l->sent[LOSS], 1) && fabsf(l->sent[LOSS]) <= most;

    l->sent[NOT_FINITE] = counts ? 0 : 1;
    if (!counts)
        l->sent[LOSS] = 0;
}

/* A request that comes while the same is taken is that one. */
static void take_requests(ddp_loss *l)
{
    for (int r = 0; r < DDP_REQUESTS; r++) {
        l->sent[r] = 0;
        if (!l->asked || !l->asked[r])
            continue;
        l->asked[r] = 0;
        l->sent[r] = 1;
    }
}

ddp_status ddp_loss_start(ddp_loss *l, ddp_error *err)
{
    if (l->started)
        return DDP_OK;
    if (l->tree)
        ddp_tree_sum_collect(l->tree, l->folded, 0, 1);
    l->folded = 0;
    take_out_not_finite(l);
    take_requests(l);
    ddp_equal_check_write(&l->sent[SAME], l->compared);
    l->compared = 0;
    for (int i = 0; i < DDP_LOSS_COUNTS; i++) {
        l->sent[COUNTS + i] = l->counts[i];
        l->counts[i] = 0;
    }
    l->started = 1;
    if (ddp_work_start(l->sum, err))
        return ddp_wrap(err, "loss");
    return DDP_OK;
}

ddp_status ddp_loss_finish(ddp_loss *l, ddp_error *err)
{
    if (!l->started)
        return DDP_OK;
    l->started = 0;
    if (ddp_work_wait(l->sum, err))
        return ddp_wrap(err, "loss");
    l->same = ddp_equal_check_read(&l->sent[SAME], l->size);
    l->finite = l->sent[NOT_FINITE] == 0;
    if (l->finite)
        l->last = l->sent[LOSS] / (float)l->size;
    l->mean += l->last;
    l->sent[LOSS] = 0;
    for (int i = 0; i < DDP_LOSS_COUNTS; i++)
        l->sums[i] = l->sent[COUNTS + i];
    l->all.save = l->sent[DDP_REQUEST_SAVE] > 0;
    l->all.stop = l->sent[DDP_REQUEST_STOP] > 0;
    l->all.waits = l->sent[DDP_REQUEST_WAITS] > 0;
    return DDP_OK;
}

float ddp_loss_take_mean(ddp_loss *l)
{
    float mean = l->mean;

    l->mean = 0;
    return mean;
}

int ddp_loss_finite(const ddp_loss *l)
{
    return l->started || l->finite;
}

void ddp_loss_compare_number(ddp_loss *l, uint64_t number)
{
    l->compared = number;
}

int ddp_loss_numbers_equal(const ddp_loss *l)
{
    return l->same;
}

void ddp_loss_send_count(ddp_loss *l, int which, size_t count)
{
    l->counts[which] = (float)count;
}

size_t ddp_loss_received_count(const ddp_loss *l, int which)
{
    return l->sums[which] > 0 ? (size_t)l->sums[which] : 0;
}

ddp_requests ddp_loss_requested(const ddp_loss *l)
{
    return l->all;
}
