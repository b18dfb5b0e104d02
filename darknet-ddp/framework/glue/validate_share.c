#include "glue/validate_share.h"

#include <darknet.h>
#include <stdio.h>

/* ---- the network, as it is for single pictures ---- */

struct mode {
    int batch, width, height, any_threads;
};

static void enter(struct mode *before, network *net, const ddp_validation_set *set)
{
    *before = (struct mode){net->batch, net->w, net->h, gemm_any_threads};
    gemm_any_threads = 1; /* the same bits on ranks with more cores */
    if (set->width > 0 && (set->width != net->w || set->height != net->h))
        (void)resize_network(net, set->width, set->height);
    set_batch_network(net, 1);
}

static void leave(const struct mode *before, network *net)
{
    set_batch_network(net, before->batch);
    if (before->width != net->w || before->height != net->h)
        (void)resize_network(net, before->width, before->height);
    gemm_any_threads = before->any_threads;
}

/* ---- the pictures ---- */

static void tell_unreadable(const ddp_picture_share *s, size_t i, const char *why)
{
    const ddp_validation_set *set = s->set;
    char sentence[2048];

    if (!s->listener || !s->listener->unreadable || set->reported[i])
        return;
    set->reported[i] = 1;
    (void)snprintf(sentence, sizeof sentence, "%s (%.900s:%zu)", why, set->list, set->lines[i]);
    s->listener->unreadable(sentence);
}

uint64_t ddp_picture_share_measure(const ddp_picture_share *s)
{
    size_t step = (size_t)ddp_group_size(s->group), i = (size_t)ddp_group_rank(s->group);
    const ddp_validation_set *set = s->set;
    uint64_t unreadable = 0;
    ddp_picture_loader loader;
    inference_plan *plan;
    struct mode before;

    enter(&before, s->net, set);
    plan = inference_open(s->net, set->bf16);
    if (i < set->count)
        ddp_picture_loader_begin(&loader, s->net, set->paths[i], s->fit);
    for (; i < set->count; i += step) {
        ddp_picture picture = ddp_picture_loader_end(&loader);

        if (i + step < set->count)
            ddp_picture_loader_begin(&loader, s->net, set->paths[i + step], s->fit);
        if (!picture.why[0])
            s->measure(s->ctx, s, plan, i, &picture);
        if (picture.why[0]) {
            unreadable++;
            tell_unreadable(s, i, picture.why);
        }
        ddp_picture_release(&picture);
    }
    inference_close(plan);
    leave(&before, s->net);
    return unreadable;
}
