#include "show/step_timing.h"

#include "base/clock.h"
#include "show/csv_columns.h"

#include <math.h>

static struct ddp_step_counts counts_of(const ddp_step_timing *t, size_t images)
{
    return (struct ddp_step_counts){
        .now_ns = ddp_clock_ns(),
        .communication_ns = ddp_trainer_communication_ns(t->trainer),
        .save_ns = t->save_ns,
        .aside_ns = t->aside_ns,
        .times = ddp_trainer_total_times(t->trainer),
        .images = images,
    };
}

void ddp_step_timing_begin(ddp_step_timing *t, ddp_trainer *trainer, size_t images)
{
    *t = (ddp_step_timing){.trainer = trainer};
    t->first = counts_of(t, images);
}

void ddp_step_timing_saving(ddp_step_timing *t)
{
    t->saving_ns = ddp_clock_ns();
}

void ddp_step_timing_saved(ddp_step_timing *t)
{
    int64_t ns = ddp_clock_ns() - t->saving_ns;

    t->save_ns += ns;
    if (!t->in_row)
        t->aside_ns += ns;
}

static double seconds(int64_t from, int64_t to)
{
    return (double)(to - from) / 1e9;
}

static void fill(const ddp_step_timing *t, double *row)
{
    const struct ddp_step_counts *a = &t->first, *b = &t->last;
    int host = b->times.forward_ns > 0;
    double step_s = seconds(a->now_ns, b->now_ns);

    row[DDP_COLUMN_SPEED] = step_s > 0 ? (double)(b->images - a->images) / step_s : (double)NAN;
    row[DDP_COLUMN_LOADER] = fmax(0, seconds(a->times.outside_ns, b->times.outside_ns)
                                         - seconds(a->aside_ns, b->aside_ns));
    row[DDP_COLUMN_FORWARD] =
        host ? seconds(a->times.forward_ns, b->times.forward_ns) : (double)NAN;
    row[DDP_COLUMN_BACKWARD] =
        host ? seconds(a->times.backward_ns, b->times.backward_ns) : (double)NAN;
    row[DDP_COLUMN_UPDATE] = host ? seconds(a->times.update_ns, b->times.update_ns) : (double)NAN;
    row[DDP_COLUMN_COMMUNICATION] = seconds(a->communication_ns, b->communication_ns);
}

void ddp_step_timing_end(ddp_step_timing *t, size_t images, double *row)
{
    t->last = counts_of(t, images);
    t->in_row = 1;
    fill(t, row);
}

double ddp_step_timing_save_s(const ddp_step_timing *t)
{
    return seconds(t->first.save_ns, t->save_ns);
}

void ddp_step_timing_next(ddp_step_timing *t, int64_t now_ns)
{
    t->aside_ns += now_ns - t->last.now_ns;
    t->first = t->last;
    t->first.now_ns = now_ns;
    t->first.save_ns = t->save_ns;
    t->first.communication_ns = ddp_trainer_communication_ns(t->trainer);
    t->in_row = 0;
}
