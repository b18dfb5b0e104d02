#include "show/progress.h"

#include "base/plural.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Weight of a step relative to the next one: the last 20 steps together have about two thirds. */
static const double fade = 0.95;

/* Share of a step spent waiting for samples from which on the line tells it. */
static const double much_loading = 0.2;

void ddp_progress_start(ddp_progress *p, const ddp_progress_now *now)
{
    *p = (ddp_progress){.started_ns = now->now_ns, .last = *now};
}

void ddp_progress_step(ddp_progress *p, const ddp_progress_now *now)
{
    double step_ns = fmax(1, (double)(now->now_ns - p->last.now_ns));
    double communication_ns = (double)(now->communication_ns - p->last.communication_ns);
    double loading_ns = fmax(0, (double)(now->loading_ns - p->last.loading_ns));

    p->steps++;
    p->step_ns = fade * p->step_ns + step_ns;
    p->images = fade * p->images + (double)(now->images - p->last.images);
    /* on a GPU communication is known a step later */
    p->communication_ns = fade * p->communication_ns + fmin(communication_ns, step_ns);
    p->loading_ns = fade * p->loading_ns + fmin(loading_ns, step_ns);
    p->last = *now;
}

double ddp_progress_speed(const ddp_progress *p)
{
    return p->step_ns > 0 ? p->images / p->step_ns * 1e9 : 0;
}

double ddp_progress_communication(const ddp_progress *p)
{
    if (p->last.communication_ns < 0)
        return (double)NAN;
    return p->step_ns > 0 ? p->communication_ns / p->step_ns : 0;
}

double ddp_progress_loading(const ddp_progress *p)
{
    if (p->last.loading_ns < 0)
        return (double)NAN;
    return p->step_ns > 0 ? p->loading_ns / p->step_ns : 0;
}

int ddp_progress_waits_for_loader(const ddp_progress *p)
{
    return ddp_progress_loading(p) >= much_loading;
}

double ddp_progress_remaining_s(const ddp_progress *p)
{
    if (p->last.last_step == 0 || p->last.last_step < p->last.step || p->steps == 0)
        return (double)NAN;
    return (double)(p->last.now_ns - p->started_ns) / 1e9 / (double)p->steps
           * (double)(p->last.last_step - p->last.step);
}

void ddp_progress_line(const ddp_progress *p, char *text, size_t size)
{
    double communication = ddp_progress_communication(p), remaining_s = ddp_progress_remaining_s(p);
    char share[32] = "", loading[32] = "", left[32] = "";

    if (!isnan(communication))
        (void)snprintf(share, sizeof share, ", %.0f%% comm", 100 * communication);
    if (ddp_progress_waits_for_loader(p))
        (void)snprintf(loading, sizeof loading, ", %.0f%% loading", 100 * ddp_progress_loading(p));
    if (!isnan(remaining_s))
        ddp_duration(remaining_s, left, sizeof left);
    (void)snprintf(text, size, ", %.1f images/s%s%s%s%s%s", ddp_progress_speed(p), share, loading,
                   *left ? ", " : "", left, *left ? " left" : "");
}

int ddp_progress_read(ddp_progress_figures *figures, const char *line)
{
    const char *at = strstr(line, ": ");

    return at
           && sscanf(at, ": %lf, %lf avg, %lf rate", &figures->loss, &figures->average_loss,
                     &figures->rate)
                  == 3;
}
