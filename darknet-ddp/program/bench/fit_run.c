#include "bench/fit_run.h"

#include "base/burn_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_MINI_BATCHES = 4 };

static const double trains = 0.9; /* of the time */

double ddp_fit_count(double seconds, double seconds_a_picture, int batch)
{
    return trains * seconds / (seconds_a_picture * batch);
}

ddp_run_length ddp_fit_run(ddp_run_length cfg, double seconds, double seconds_a_picture, int ranks)
{
    const int fewest = ranks > FEW_MINI_BATCHES ? ranks : FEW_MINI_BATCHES;
    const int wanted = cfg.max_batches < DDP_FEW_STEPS ? cfg.max_batches : DDP_FEW_STEPS;
    ddp_run_length fits = cfg;
    double steps;

    while (ddp_fit_count(seconds, seconds_a_picture, fits.batch) < wanted && fits.batch % 2 == 0
           && fits.subdivisions % 2 == 0 && fits.subdivisions / 2 >= fewest
           && fits.subdivisions / 2 % ranks == 0) {
        fits.batch /= 2;
        fits.subdivisions /= 2;
    }
    steps = ddp_fit_count(seconds, seconds_a_picture, fits.batch);
    if (steps >= cfg.max_batches)
        return fits;
    fits.max_batches = (int)steps;
    fits.burn_in = (int)ddp_burn_in_of(cfg.burn_in, cfg.max_batches, fits.max_batches);
    return fits;
}

void ddp_fit_steps(const char *steps, int was, int is, char *text, size_t size)
{
    size_t used = 0;
    char *end;

    text[0] = '\0';
    while (*steps && used < size) {
        double step = strtod(steps, &end);

        if (end == steps)
            return;
        used +=
            (size_t)snprintf(text + used, size - used, "%s%.0f", used ? "," : "", step * is / was);
        steps = end + strspn(end, ", \t");
    }
}
