#include "run/memory.h"

#include "base/memory_room.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "glue/footprint.h"
#include "run/state.h"

#include <stdint.h>
#include <stdio.h>

/* How much a rank takes of a memory at the largest size, and how much it may have. */
struct need {
    ddp_footprint footprint;
    double later;           /* bytes that are taken after the start, whatever the size */
    double takes, may_have; /* bytes; may_have 0: not known */
    const char *limit;      /* what says how much it may have */
};

static struct need measured[2]; /* of host and GPU; takes is 0 if there is none */

/* KEPT: bytes of freed memory that malloc keeps (M_TRIM_THRESHOLD, as Darknet's data.c sets it). */
enum { SENTENCE = 256, KEPT = 64 << 20 };

static double takes(const struct need *n, int width, int height, int images)
{
    return ddp_footprint_bytes(&n->footprint, width, height, images) + n->later;
}

static int fits(const struct need *n, int width, int height, int images)
{
    return n->may_have <= 0 || takes(n, width, height, images) <= n->may_have;
}

/* Ranks of a host share what it has left, and take alike of it. */
static void look_at_host(struct need *n, int ranks)
{
    ddp_memory_room room = ddp_memory_room_now();

    n->limit = room.limit;
    if (room.left == SIZE_MAX)
        return;
    n->may_have = room.is_shared ? (double)ddp_memory_resident() + (double)room.left / ranks
                                 : n->footprint.used + (double)room.left;
}

/* Write what would fit: as few mini-batches as may be, or else a size. */
static void advise(const struct need *n, const ddp_batch *batch, char text[SENTENCE])
{
    const ddp_footprint *f = &n->footprint;
    int step = 32, width = f->width, height = f->height;

    for (int parts = 2; parts <= f->images; parts++)
        if (f->images % parts == 0 && fits(n, width, height, f->images / parts)) {
            (void)snprintf(text, SENTENCE, "-subdivisions %d would take %.2f GB",
                           batch->subdivisions * parts,
                           takes(n, width, height, f->images / parts) / 1e9);
            return;
        }
    while (width > step && height > step && !fits(n, width, height, 1)) {
        width -= step;
        height -= step;
    }
    if (fits(n, width, height, 1))
        (void)snprintf(text, SENTENCE,
                       "with -subdivisions %d the largest size that fits is %dx%d (random=0 in the "
                       "cfg, -width %d -height %d)",
                       batch->subdivisions * f->images, width, height, width, height);
    else
        (void)snprintf(text, SENTENCE, "no size fits");
}

static ddp_status check(struct need *n, const ddp_batch *batch, ddp_error *err)
{
    const ddp_footprint *f = &n->footprint;
    char advice[SENTENCE];

    n->takes = takes(n, f->width, f->height, f->images);
    if (fits(n, f->width, f->height, f->images))
        return DDP_OK;
    advise(n, batch, advice);
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "at %dx%d, the largest size that random=1 draws, a rank takes about %.2f GB, and "
        "it may have %.2f GB (%s): %s",
        f->width, f->height, n->takes / 1e9, n->may_have / 1e9, n->limit, advice);
}

/* Check the host's memory, and the GPU's if there is one. */
static ddp_status check_all(const ddp_batch *batch, ddp_error *err)
{
    if (check(&measured[0], batch, err))
        return err->code;
    return measured[1].may_have > 0 ? check(&measured[1], batch, err) : DDP_OK;
}

ddp_status ddp_memory_check(struct network *net, double checkpoint_bytes, ddp_error *err)
{
    ddp_batch batch = ddp_trainer_batch(ddp_run.trainer);
    ddp_device *device = ddp_group_device(ddp_run.group);
    ddp_footprint *host = &measured[0].footprint, *gpu = &measured[1].footprint;
    size_t used, total;
    int width, height;

    if (!ddp_footprint_largest(net, &width, &height))
        return DDP_OK;
    ddp_footprint_measure(host, gpu, net, device, (size_t)batch.images * (size_t)batch.per_rank);
    measured[0].later = KEPT + (ddp_group_rank(ddp_run.group) == 0 ? checkpoint_bytes : 0);
    look_at_host(&measured[0], ddp_group_local_size(ddp_run.group));
    if (!ddp_device_is_host(device)) {
        ddp_device_memory(device, &used, &total);
        measured[1].may_have = (double)total;
        measured[1].limit = "its GPU's memory";
    }
    if (check_all(&batch, err)
        || ddp_barrier(ddp_run.group, err)) /* all have seen what is left: now it gets less */
        return err->code;
    ddp_footprint_take_largest(host, gpu, net, device);
    return check_all(&batch, err);
}

void ddp_memory_print(void)
{
    for (int i = 0; i < 2; i++) {
        const struct need *n = &measured[i];

        if (n->takes <= 0)
            continue;
        printf("DDP: at %dx%d, the largest size that random=1 draws, a rank takes about %.2f GB",
               n->footprint.width, n->footprint.height, n->takes / 1e9);
        if (n->may_have > 0)
            printf(" of the %.2f GB that it may have (%s)", n->may_have / 1e9, n->limit);
        printf("\n");
    }
}
