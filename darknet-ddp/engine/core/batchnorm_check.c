#include "core/batchnorm_check.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

static int works(const ddp_exact_run *run, int exact)
{
    ddp_batch cut;
    ddp_error ignored;

    if (exact && ddp_exact_check(run, &ignored))
        return 0;
    return ddp_batch_split(&cut, run->batch, run->subdivisions, run->ranks, run->mode, NULL,
                           &ignored)
               == DDP_OK
           && cut.images > 1;
}

/* Each returns 0 if there is none. */
static int fewer_subdivisions(ddp_exact_run run, int exact)
{
    while (--run.subdivisions > 0)
        if (works(&run, exact))
            return run.subdivisions;
    return 0;
}

static int fewer_ranks(ddp_exact_run run, int exact)
{
    while (--run.ranks > 0)
        if (works(&run, exact))
            return run.ranks;
    return 0;
}

/* Two images for each of the mini-batches that ranks and subdivisions make are enough. */
static int larger_batch(ddp_exact_run run, int exact)
{
    int64_t most = run.batch + 2 * (int64_t)run.subdivisions * run.ranks;

    for (int64_t batch = run.batch + run.subdivisions - run.batch % run.subdivisions;
         batch <= most && batch <= INT_MAX; batch += run.subdivisions) {
        run.batch = (int)batch;
        if (works(&run, exact))
            return run.batch;
    }
    return 0;
}

ddp_status ddp_batchnorm_refuse_one_value(const ddp_exact_run *run, int exact, int layer,
                                          const char *kind, ddp_error *err)
{
    int subdivisions = fewer_subdivisions(*run, exact);
    int batch = larger_batch(*run, exact);
    int ranks = fewer_ranks(*run, exact);
    char items[3][40], text[160] = "";
    int count = 0, used = 0;

    if (subdivisions)
        (void)snprintf(items[count++], sizeof items[0], "subdivisions=%d", subdivisions);
    if (batch)
        (void)snprintf(items[count++], sizeof items[0], "batch=%d", batch);
    if (ranks)
        (void)snprintf(items[count++], sizeof items[0], "%d rank%s", ranks, ranks == 1 ? "" : "s");
    for (int i = 0; i < count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s",
                         i == 0           ? ""
                         : i == count - 1 ? " or "
                                          : ", ",
                         items[i]);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "batch=%d subdivisions=%d on %d rank%s makes mini-batches of one image, in "
                    "which BatchNorm of layer %d (%s) has one value a channel, and so no variance; "
                    "%s would work",
                    run->batch, run->subdivisions, run->ranks, run->ranks == 1 ? "" : "s", layer,
                    kind, text);
}
