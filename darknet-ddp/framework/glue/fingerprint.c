#include "glue/fingerprint.h"

#include <darknet.h>
#include <stdio.h>

static void write_schedule(FILE *f, const network *net)
{
    (void)fprintf(f, "mini-batch %d, subdivisions %d, time_steps %d\n", net->batch,
                  net->subdivisions, net->time_steps);
    (void)fprintf(f, "learning_rate %.9g, momentum %.9g, decay %.9g, adam %d\n",
                  (double)net->learning_rate, (double)net->momentum, (double)net->decay, net->adam);
    (void)fprintf(f, "policy %d, burn_in %d, power %.9g, max_batches %d, steps %d\n",
                  (int)net->policy, net->burn_in, (double)net->power, net->max_batches,
                  net->num_steps);
    (void)fprintf(f, "input %dx%dx%d, random %d\n", net->w, net->h, net->c, net->random);
}

ddp_status ddp_fingerprint(char **text, const network *net, const ddp_param_table *table,
                           uint64_t seed, ddp_error *err)
{
    size_t size;
    FILE *f = open_memstream(text, &size);

    if (!f) {
        *text = NULL;
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a description of the run");
    }
    (void)fprintf(f, "darknet-ddp %s\n", DDP_VERSION);
    (void)fprintf(f, "seed %llu\n", (unsigned long long)seed);
    write_schedule(f, net);
    (void)fprintf(f, "%d layers, frozen below %d\n", table->layer_count, table->first_trained);
    for (size_t i = 0; i < table->param_count; i++)
        (void)fprintf(f, "layer %d %s %s: %zu\n", table->params[i].layer, table->params[i].kind,
                      table->params[i].part, table->params[i].count);
    if (fclose(f)) {
        free(*text);
        *text = NULL;
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a description of the run");
    }
    return DDP_OK;
}
