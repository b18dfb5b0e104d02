#include "cli/progress.h"

#include <math.h>
#include <stdio.h>

void ddp_progress_left(double seconds, char *text, size_t size)
{
    if (seconds >= 5400)
        (void)snprintf(text, size, "%.1f hours", seconds / 3600);
    else if (seconds >= 90)
        (void)snprintf(text, size, "%.0f minutes", seconds / 60);
    else
        (void)snprintf(text, size, "%.0f second%s", seconds, rint(seconds) == 1 ? "" : "s");
}

void ddp_progress_start(ddp_progress *p, const ddp_progress_now *now)
{
    *p = (ddp_progress){.started_ns = now->now_ns,
                        .last_ns = now->now_ns,
                        .last_communication_ns = now->communication_ns,
                        .last_images = now->images};
}

void ddp_progress_line(ddp_progress *p, const ddp_progress_now *now, char *text, size_t size)
{
    double step_ns = (double)(now->now_ns - p->last_ns);
    double images = (double)(now->images - p->last_images);
    double communication_ns = (double)(now->communication_ns - p->last_communication_ns);
    int used;

    if (step_ns < 1)
        step_ns = 1;
    p->steps++;
    if (communication_ns > step_ns)
        communication_ns = step_ns; /* on a GPU it is known a step later */
    used = snprintf(text, size, ", %.1f images/s, %.0f%% comm", images / step_ns * 1e9,
                    100 * communication_ns / step_ns);
    if (now->last_step >= now->step && now->last_step > 0 && used > 0 && (size_t)used < size) {
        double mean_s = (double)(now->now_ns - p->started_ns) / 1e9 / (double)p->steps;
        char left[32];

        ddp_progress_left(mean_s * (double)(now->last_step - now->step), left, sizeof left);
        (void)snprintf(text + used, size - (size_t)used, ", %s left", left);
    }
    p->last_ns = now->now_ns;
    p->last_images = now->images;
    p->last_communication_ns = now->communication_ns;
}
