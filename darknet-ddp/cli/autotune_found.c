#include "cli/autotune_found.h"

#include "base/file.h"
#include "glue/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "2+1": how many ranks each host has, in turn. */
static void print_hosts(FILE *out, const ddp_group *group)
{
    int size = ddp_group_size(group), ranks = 1;

    for (int r = 1; r <= size; r++, ranks++)
        if (r == size || strcmp(ddp_group_host(group, r), ddp_group_host(group, r - 1)) != 0) {
            (void)fprintf(out, "%d%s", ranks, r < size ? "+" : "");
            ranks = 0;
        }
}

/* What a step's time depends on. NULL: no memory, or the cfg cannot be read. */
static char *make_key(const ddp_options *o, const ddp_group *group, const ddp_trainer *trainer,
                      const char *cfg)
{
    ddp_batch batch = ddp_trainer_batch(trainer);
    ddp_file_checksum sum;
    char *text = NULL, compress[DDP_COMPRESS_TEXT];
    size_t size;
    ddp_error err;
    FILE *out;

    if (ddp_file_checksum_of(cfg, &sum, &err) || !(out = open_memstream(&text, &size)))
        return NULL;
    (void)fprintf(out, "of cfg %016" PRIx64 ", ranks ", sum.hash);
    print_hosts(out, group);
    (void)fprintf(out, ", %s, %s, batch %d x %d x %d, compress %s, exact %d, sync_bn %d",
                  ddp_group_transport(group), ddp_group_schedule(group), batch.batch,
                  batch.per_rank, batch.images, ddp_compress_choice_format(&o->compress, compress),
                  o->exact, o->sync_bn);
    (void)fprintf(out, ", channels %d, given %g %g %g %d", o->channels, o->bucket_mb,
                  o->first_bucket_mb, o->defer_mb, o->priority);
    if (!fclose(out))
        return text;
    free(text);
    return NULL;
}

ddp_tune_place ddp_tune_place_open(const ddp_options *options, const ddp_group *group,
                                   const ddp_trainer *trainer, const char *directory,
                                   const char *cfg, ddp_tune_found *found)
{
    char *name = ddp_checkpoint_base(cfg);
    ddp_tune_place place = {.key = make_key(options, group, trainer, cfg)};

    *found = (ddp_tune_found){0};
    if (!name || asprintf(&place.path, "%s/%s.tune", directory, name) < 0)
        place.path = NULL;
    free(name);
    if (place.path && place.key && !ddp_tune_file_read(place.path, place.key, found, &place.why))
        *found = (ddp_tune_found){0};
    return place;
}

int ddp_tune_place_write(const ddp_tune_place *place, const ddp_tune_found *found)
{
    ddp_error err;

    if (!place->path || !place->key)
        return 0;
    if (!ddp_tune_file_write(place->path, place->key, found, &err))
        return 1;
    (void)fprintf(stderr, "darknet: what was tuned is not kept: %s\n", err.text);
    return 0;
}

static void print_bucketing(const char *begin, const ddp_tuning *t)
{
    printf("DDP: %s: buckets of %g MiB, the first of %g, %g deferred, priority %d: ", begin,
           t->bucket_mb, t->first_bucket_mb, t->defer_mb, t->priority);
}

static void print_cut(const char *begin, ddp_chunks chunks)
{
    printf("DDP: %s: chunks of %g KiB, %d in flight: ", begin, (double)chunks.bytes / 1024,
           chunks.window);
}

void ddp_tune_print_buckets(const char *begin, const ddp_tune_found *found)
{
    print_bucketing(begin, &found->tuning);
    printf("%.4f s a step, %.4f as they were\n", found->step_s, found->as_is_s);
}

void ddp_tune_print_chunks(const char *begin, const ddp_tune_found *found, ddp_chunks chunks,
                           const char *where)
{
    print_cut(begin, chunks);
    printf("%.4f s a step, %.4f as they were (%s)\n", found->chunks_step_s, found->chunks_as_is_s,
           where);
}

void ddp_tune_print_tried(const ddp_tuning *tried, const double *step_s, size_t count, int chunks)
{
    for (size_t i = 0; i < count; i++) {
        if (chunks)
            print_cut("tried", tried[i].chunks);
        else
            print_bucketing("tried", &tried[i]);
        printf("%.4f s a step\n", step_s[i]);
    }
}
