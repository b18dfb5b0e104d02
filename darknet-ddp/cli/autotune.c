#include "cli/autotune.h"

#include "base/clock.h"
#include "base/file.h"
#include "bench/line.h"
#include "cli/bucketing.h"
#include "cli/lookout.h"
#include "cli/tune_file.h"
#include "core/reducer.h"
#include "device/wire.h"
#include "glue/checkpoint.h"
#include "glue/layer_clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Steps: before layers are timed, in which they are, of a trial's turn those that do not count,
 * since priority has to find its order, and those that do. */
enum { WARM = 2, TIMED = 4, UNCOUNTED = 3, COUNTED = 3, CONFIGS = 1 + DDP_TUNE_TRIED };

enum { LINE_BYTES = 16 << 20 };

enum state { OFF, WARMING, TIMING, TRYING };

static struct {
    enum state state;
    const ddp_options *options;
    ddp_group *group;
    ddp_trainer *trainer;
    char *path, *key;     /* of the file; on rank 0 */
    const char *why;      /* the file is no use; NULL: it is, or there is none */
    ddp_tune_found found; /* in it, where as_is_s is not 0; the same on every rank */

    ddp_tuning configs[CONFIGS]; /* the first as asked for */
    size_t count;
    int step; /* of the state's, or of a turn's; those that have ended */
    ddp_layer_clock *clock;
    size_t turn; /* so many trials have ended: one with each config, and again */
    double counted_s[COUNTED];
    double seconds[CONFIGS][DDP_TUNE_ROUNDS];
    int64_t ended_ns; /* the last step's end, and all that comes with it */
    double step_s;    /* of the one that ends */
} tune;

ddp_status ddp_autotune_check_device(const ddp_options *options, const ddp_group *group,
                                     ddp_error *err)
{
    if (!options->autotune || ddp_device_is_host(ddp_group_device(group)))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_autotune 1 works on CPUs: leave it out, or compute there with -nogpu");
}

static int is_first(void)
{
    return ddp_group_rank(tune.group) == 0;
}

/* ---- the file ---- */

/* "2+1": how many ranks each host has, in turn. */
static void print_hosts(FILE *out)
{
    int size = ddp_group_size(tune.group), ranks = 1;

    for (int r = 1; r <= size; r++, ranks++)
        if (r == size
            || strcmp(ddp_group_host(tune.group, r), ddp_group_host(tune.group, r - 1)) != 0) {
            (void)fprintf(out, "%d%s", ranks, r < size ? "+" : "");
            ranks = 0;
        }
}

/* What a step's time depends on. NULL: no memory, or the cfg cannot be read. */
static char *make_key(const char *cfg)
{
    const ddp_options *o = tune.options;
    ddp_batch batch = ddp_trainer_batch(tune.trainer);
    ddp_file_checksum sum;
    char *text = NULL, compress[DDP_COMPRESS_TEXT];
    size_t size;
    ddp_error err;
    FILE *out;

    if (ddp_file_checksum_of(cfg, &sum, &err) || !(out = open_memstream(&text, &size)))
        return NULL;
    (void)fprintf(out, "of cfg %016" PRIx64 ", ranks ", sum.hash);
    print_hosts(out);
    (void)fprintf(out, ", %s, %s, batch %d x %d x %d, compress %s, exact %d, sync_bn %d",
                  ddp_group_transport(tune.group), ddp_group_schedule(tune.group), batch.batch,
                  batch.per_rank, batch.images, ddp_compress_choice_format(&o->compress, compress),
                  o->exact, o->sync_bn);
    (void)fprintf(out, ", channels %d, given %g %g %g %d", o->channels, o->bucket_mb,
                  o->first_bucket_mb, o->defer_mb, o->priority);
    return fclose(out) ? NULL : text;
}

static void look_for_file(const char *directory, const char *cfg)
{
    char *name = ddp_checkpoint_base(cfg);

    if (!name || asprintf(&tune.path, "%s/%s.tune", directory, name) < 0)
        tune.path = NULL;
    free(name);
    tune.key = make_key(cfg);
    if (tune.path && tune.key && !ddp_tune_file_read(tune.path, tune.key, &tune.found, &tune.why))
        tune.found = (ddp_tune_found){0};
}

/* Returns whether it is there. */
static int write_file(void)
{
    ddp_error err;

    if (!tune.path || !tune.key)
        return 0;
    if (!ddp_tune_file_write(tune.path, tune.key, &tune.found, &err))
        return 1;
    (void)fprintf(stderr, "darknet: what was tuned is not kept: %s\n", err.text);
    return 0;
}

/* ---- buckets ---- */

static ddp_status use(const ddp_tuning *t, ddp_error *err)
{
    ddp_bucketing buckets = ddp_bucketing_of(t);
    ddp_status st;

    ddp_lookout_use_plan(NULL);
    st = ddp_trainer_use_buckets(tune.trainer, &buckets, err);
    if (!st)
        ddp_lookout_use_plan(ddp_reducer_plan(ddp_trainer_reducer(tune.trainer)));
    return st ? ddp_wrap(err, "-ddp_autotune") : DDP_OK;
}

static void print_tuning(const char *begin, const ddp_tune_found *f, int kept)
{
    const ddp_tuning *t = &f->tuning;

    printf("DDP: %s: buckets of %g MiB, the first of %g, %g deferred, priority %d: %.4f s a step, "
           "%.4f as they were (%s)\n",
           begin, t->bucket_mb, t->first_bucket_mb, t->defer_mb, t->priority, f->step_s, f->as_is_s,
           kept ? tune.path : "not kept");
}

ddp_status ddp_autotune_open(const ddp_options *options, ddp_group *group, ddp_trainer *trainer,
                             const char *directory, const char *cfg, ddp_error *err)
{
    ddp_bucketing buckets;

    tune.state = OFF;
    if (!options->autotune || ddp_group_size(group) == 1)
        return DDP_OK;
    tune.options = options;
    tune.group = group;
    tune.trainer = trainer;
    tune.configs[0] = ddp_bucketing_asked(options, group);
    if (is_first())
        look_for_file(directory, cfg);
    if (ddp_broadcast(group, &tune.found, sizeof tune.found, 0, err))
        return ddp_wrap(err, "-ddp_autotune");
    tune.state = WARMING;
    if (tune.found.as_is_s <= 0)
        return DDP_OK;
    buckets = ddp_bucketing_of(&tune.found.tuning);
    return ddp_trainer_use_buckets(trainer, &buckets, err);
}

/* Does the run end before all is tried? */
static int is_too_short(const ddp_position *now, int *steps)
{
    *steps = WARM + TIMED + CONFIGS * DDP_TUNE_ROUNDS * (UNCOUNTED + COUNTED);
    return now->last_step > 0 && now->step + (size_t)*steps > now->last_step;
}

ddp_status ddp_autotune_begin(network *net, const ddp_position *now, ddp_error *err)
{
    int steps, too_short = is_too_short(now, &steps);

    (void)net, (void)err;
    if (tune.state == OFF)
        return DDP_OK;
    if (tune.found.as_is_s > 0 || too_short)
        tune.state = OFF;
    if (!is_first())
        return DDP_OK;
    if (tune.why)
        printf("DDP: -ddp_autotune: %s %s\n", tune.path, tune.why);
    if (tune.found.as_is_s > 0)
        print_tuning("tuned before", &tune.found, 1);
    else if (too_short)
        printf("DDP: -ddp_autotune takes up to %d steps, more than this run has: buckets stay as "
               "they are\n",
               steps);
    else
        printf("DDP: -ddp_autotune tries other buckets in the next steps, at most %d\n", steps);
    return DDP_OK;
}

/* ---- timing ---- */

/* The mean over ranks, in place. */
static ddp_status average(ddp_profile *p, ddp_error *err)
{
    size_t count = (size_t)p->layers * sizeof *p->times / sizeof(double);
    double *all = calloc(count * (size_t)ddp_group_size(tune.group), sizeof *all);
    double *mine = &p->times[0].forward;
    ddp_status st = all ? ddp_allgather(tune.group, mine, all, count * sizeof *mine, err)
                        : ddp_fail(err, DDP_ERR_NOMEM,
                                   "no memory for all ranks' times of %d layers", p->layers);

    for (size_t i = 0; i < count && !st; i++) {
        mine[i] = 0;
        for (int r = 0; r < ddp_group_size(tune.group); r++)
            mine[i] += all[(size_t)r * count + i] / ddp_group_size(tune.group);
    }
    free(all);
    return st;
}

static ddp_status begin_timing(network *net, ddp_error *err)
{
    ddp_tuning plain = tune.configs[0];

    plain.defer_mb = 0; /* each layer's update then has a time of its own */
    plain.priority = 0;
    tune.state = TIMING;
    tune.step = 0;
    if (use(&plain, err))
        return err->code;
    return ddp_layer_clock_open(
        &tune.clock, net, (size_t)TIMED * (size_t)ddp_trainer_batch(tune.trainer).per_rank, err);
}

static ddp_status read_clock(ddp_profile *p, ddp_error *err)
{
    ddp_status st = ddp_layer_clock_read(tune.clock, p, err);

    ddp_layer_clock_close(tune.clock);
    tune.clock = NULL;
    return st ? st : average(p, err);
}

static int host_count(void)
{
    int hosts = 1;

    for (int r = 1; r < ddp_group_size(tune.group); r++)
        hosts += strcmp(ddp_group_host(tune.group, r), ddp_group_host(tune.group, r - 1)) != 0;
    return hosts;
}

static ddp_tune_config config_of(const ddp_profile *profile, const ddp_line *line)
{
    const ddp_options *o = tune.options;

    return (ddp_tune_config){
        .predict = {.profile = profile,
                    .overlap = 1,
                    .mini_batches = ddp_trainer_batch(tune.trainer).per_rank,
                    .scale = 1,
                    .ranks = ddp_group_size(tune.group),
                    .hosts = host_count(),
                    .bytes_s = 1e9,
                    .value_bytes = (double)ddp_wire_bytes(ddp_compress_choice_wire(&o->compress)),
                    .schedule = (ddp_schedule)o->schedule,
                    .wire_s_a_byte = line->s_a_byte,
                    .latency_s = line->latency_s},
        .table = ddp_trainer_table(tune.trainer),
        .as_is = tune.configs[0],
        .keep_bucket = o->bucket_mb > 0,
        .keep_first_bucket = o->first_bucket_mb > 0,
        .keep_defer = o->defer_mb >= 0,
        .keep_priority = o->priority >= 0};
}

/* What rank 0 finds worth a trial. */
static ddp_status find_candidates(const ddp_profile *profile, ddp_error *err)
{
    size_t bytes = ddp_reducer_plan(ddp_trainer_reducer(tune.trainer))->count * sizeof(float);
    ddp_line line;
    ddp_tune_config config;

    if (ddp_line_measure(&line, tune.group, bytes < LINE_BYTES ? bytes : LINE_BYTES, err))
        return err->code;
    config = config_of(profile, &line);
    if (ddp_tune_candidates(tune.configs + 1, &tune.count, &config, err))
        return err->code;
    tune.count++;
    if (ddp_broadcast(tune.group, &tune.count, sizeof tune.count, 0, err))
        return err->code;
    return ddp_broadcast(tune.group, tune.configs, sizeof tune.configs, 0, err);
}

/* ---- trying ---- */

/* A turn's time is the slowest rank's. */
static ddp_status gather_seconds(ddp_error *err)
{
    int size = ddp_group_size(tune.group);
    double *all = calloc((size_t)size, sizeof tune.seconds);
    double *mine = &tune.seconds[0][0];
    size_t count = sizeof tune.seconds / sizeof *mine;
    ddp_status st = all ? ddp_allgather(tune.group, mine, all, sizeof tune.seconds, err)
                        : ddp_fail(err, DDP_ERR_NOMEM, "no memory for times of %d ranks", size);

    for (size_t i = 0; i < count * (size_t)size && !st; i++)
        if (mine[i % count] < all[i])
            mine[i % count] = all[i];
    free(all);
    return st;
}

static ddp_status decide(ddp_error *err)
{
    double median_s[CONFIGS];
    size_t best;

    if (gather_seconds(err))
        return err->code;
    best = ddp_tune_choose(tune.seconds, tune.count, median_s);
    tune.found = (ddp_tune_found){
        .tuning = tune.configs[best], .step_s = median_s[best], .as_is_s = median_s[0]};
    if (ddp_broadcast(tune.group, &tune.found, sizeof tune.found, 0, err)
        || use(&tune.found.tuning, err))
        return err->code;
    tune.state = OFF;
    if (!is_first())
        return DDP_OK;
    print_tuning(best             ? "tuned"
                 : tune.count > 1 ? "tuned, and none of those tried was faster by 3 %"
                                  : "tuned, and nothing is predicted to be faster",
                 &tune.found, write_file());
    return DDP_OK;
}

static ddp_status begin_turn(ddp_error *err)
{
    tune.step = 0;
    return use(&tune.configs[tune.turn % tune.count], err);
}

static ddp_status begin_trying(ddp_error *err)
{
    ddp_profile profile;
    ddp_status st = read_clock(&profile, err);

    if (!st)
        st = find_candidates(&profile, err);
    ddp_profile_release(&profile);
    if (st)
        return ddp_wrap(err, "-ddp_autotune");
    tune.state = TRYING;
    tune.turn = 0;
    return begin_turn(err);
}

static ddp_status end_turn(ddp_error *err)
{
    tune.seconds[tune.turn % tune.count][tune.turn / tune.count] =
        ddp_tune_median(tune.counted_s, COUNTED);
    if (++tune.turn == tune.count * DDP_TUNE_ROUNDS)
        return decide(err);
    return begin_turn(err);
}

/* ---- steps ---- */

void ddp_autotune_step_ends(void)
{
    tune.step_s = (double)(ddp_clock_ns() - tune.ended_ns) / 1e9;
}

static ddp_status go_on(network *net, ddp_error *err)
{
    tune.step++;
    if (tune.state == WARMING)
        return tune.step == WARM ? begin_timing(net, err) : DDP_OK;
    if (tune.state == TIMING)
        return tune.step == TIMED ? begin_trying(err) : DDP_OK;
    if (tune.step > UNCOUNTED)
        tune.counted_s[tune.step - UNCOUNTED - 1] = tune.step_s;
    return tune.step == UNCOUNTED + COUNTED ? end_turn(err) : DDP_OK;
}

ddp_status ddp_autotune_step_ended(network *net, ddp_error *err)
{
    if (tune.state != OFF && go_on(net, err))
        return err->code;
    tune.ended_ns = ddp_clock_ns();
    return DDP_OK;
}
