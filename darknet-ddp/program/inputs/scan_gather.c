#include "inputs/scan_gather.h"

#include "comm/collectives.h"

#include <stdlib.h>
#include <string.h>

/* Give every rank the faults of all ranks. */
static ddp_status gather_faults(ddp_group *group, ddp_faults *f, ddp_error *err)
{
    void *all;
    size_t bytes;
    ddp_status st = ddp_concatenate(group, f->text, f->bytes, &all, &bytes, err);

    free(f->text);
    *f = (ddp_faults){.text = all, .bytes = bytes, .room = bytes, .lost = f->lost};
    return st;
}

static ddp_status gather_tally(ddp_group *group, ddp_tally *t, ddp_error *err)
{
    int size = ddp_group_size(group);
    ddp_tally *all = calloc((size_t)size, sizeof *all);
    ddp_status st;

    if (!all)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the counts of %d ranks", size);
    st = ddp_allgather(group, t, all, sizeof *t, err);
    *t = (ddp_tally){0};
    for (int r = 0; r < size; r++)
        ddp_tally_add(t, &all[r]);
    free(all);
    return st;
}

static ddp_status gather_classes(ddp_group *group, uint64_t *by_class, int classes, ddp_error *err)
{
    size_t size = (size_t)ddp_group_size(group), n = (size_t)classes;
    uint64_t *all;
    ddp_status st;

    if (classes == 0)
        return DDP_OK;
    all = calloc(size * n, sizeof *all);
    if (!all)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the counts of %d classes", classes);
    st = ddp_allgather(group, by_class, all, n * sizeof *all, err);
    memset(by_class, 0, n * sizeof *by_class);
    for (size_t i = 0; i < size * n; i++)
        by_class[i % n] += all[i];
    free(all);
    return st;
}

static ddp_status gather_sample(ddp_group *group, ddp_box_sample *s, ddp_error *err)
{
    int size = ddp_group_size(group);
    ddp_box_sample *all = calloc((size_t)size, sizeof *all);
    ddp_status st;

    if (!all)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the boxes of %d ranks", size);
    st = ddp_allgather(group, s, all, sizeof *s, err);
    *s = (ddp_box_sample){0};
    for (int r = 0; r < size; r++)
        s->level = all[r].level > s->level ? all[r].level : s->level;
    for (int r = 0; r < size; r++)
        for (uint32_t i = 0; i < all[r].count; i++)
            ddp_box_sample_add(s, all[r].keys[i], all[r].sizes[2 * i], all[r].sizes[2 * i + 1]);
    free(all);
    return st;
}

ddp_status ddp_scan_gather(ddp_group *group, ddp_faults *f, ddp_tally *t, uint64_t *by_class,
                           int classes, ddp_box_sample *sample, ddp_error *err)
{
    ddp_status st = gather_faults(group, f, err);

    if (!st)
        st = gather_tally(group, t, err);
    if (!st)
        st = gather_classes(group, by_class, classes, err);
    if (!st)
        st = gather_sample(group, sample, err);
    return st;
}
