#include "inputs/scan_gather.h"

#include "comm/collectives.h"

#include <stdlib.h>

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
    ddp_tally *all = ddp_allgather_new(group, t, sizeof *t, err);

    if (!all)
        return err->code;
    *t = (ddp_tally){0};
    for (int r = 0; r < ddp_group_size(group); r++)
        ddp_tally_add(t, &all[r]);
    free(all);
    return DDP_OK;
}

static ddp_status gather_sample(ddp_group *group, ddp_box_sample *s, ddp_error *err)
{
    int size = ddp_group_size(group);
    ddp_box_sample *all = ddp_allgather_new(group, s, sizeof *s, err);

    if (!all)
        return err->code;
    *s = (ddp_box_sample){0};
    for (int r = 0; r < size; r++)
        s->level = all[r].level > s->level ? all[r].level : s->level;
    for (int r = 0; r < size; r++)
        for (uint32_t i = 0; i < all[r].count; i++)
            ddp_box_sample_add(s, all[r].keys[i], all[r].sizes[2 * i], all[r].sizes[2 * i + 1]);
    free(all);
    return DDP_OK;
}

ddp_status ddp_scan_gather(ddp_group *group, ddp_faults *f, ddp_tally *t, uint64_t *by_class,
                           int classes, ddp_box_sample *sample, ddp_error *err)
{
    ddp_status st = gather_faults(group, f, err);

    if (!st)
        st = gather_tally(group, t, err);
    if (!st)
        st = ddp_sum_counts(group, by_class, (size_t)classes, err);
    if (!st)
        st = gather_sample(group, sample, err);
    return st;
}
