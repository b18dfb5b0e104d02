#include "glue/fingerprint.h"

#include <stdio.h>

static void write_options(FILE *f, const ddp_trainer_config *c)
{
    (void)fprintf(f, "darknet-ddp %s\n", DDP_VERSION);
    (void)fprintf(f, "-ddp_bucket_mb and -ddp_first_bucket_mb: %zu and %zu bytes\n",
                  c->reducer.bucket_bytes, c->reducer.first_bucket_bytes);
    (void)fprintf(f, "-ddp_overlap %d\n", c->reducer.overlap);
    (void)fprintf(f, "-ddp_defer_mb: %zu bytes\n", c->reducer.defer_bytes);
    (void)fprintf(f, "-ddp_find_unused %d\n", c->reducer.find_unused);
    (void)fprintf(f, "-ddp_batch %s\n", c->batch_mode == DDP_BATCH_RANK ? "rank" : "global");
    (void)fprintf(f, "-ddp_broadcast_buffers %s\n", c->broadcast_buffers ? "step" : "save");
    (void)fprintf(f, "-ddp_sync_every %d\n", c->sync_every);
    (void)fprintf(f, "-ddp_exact %d\n", c->exact);
    (void)fprintf(f, "-ddp_seed %llu\n", (unsigned long long)c->seed);
}

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

ddp_status ddp_fingerprint(char **text, const network *net, const ddp_table *table,
                           const ddp_trainer_config *config, ddp_error *err)
{
    size_t size;
    FILE *f = open_memstream(text, &size);

    if (!f) {
        *text = NULL;
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a description of the run");
    }
    write_options(f, config);
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
