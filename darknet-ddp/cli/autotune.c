#include "cli/autotune.h"

#include "base/clock.h"
#include "bench/line.h"
#include "cli/autotune_found.h"
#include "cli/bucketing.h"
#include "cli/lookout.h"
#include "core/reducer.h"
#include "device/wire.h"
#include "glue/layer_clock.h"

#include <stdlib.h>
#include <string.h>

/* Steps: before layers are timed, in which they are, of a trial's turn those that do not count,
 * since priority has to find its order, and those that do. */
enum {
    WARM = 2,
    TIMED = 4,
    UNCOUNTED = 3,
    COUNTED = 3,
    BUCKETS = 1 + DDP_TUNE_TRIED, /* configs of a trial, at most */
    CHUNKS = 1 + DDP_TUNE_CHUNKS_TRIED,
    CONFIGS = CHUNKS > BUCKETS ? CHUNKS : BUCKETS
};

enum { LINE_BYTES = 16 << 20 };

enum state { OFF, WARMING, TIMING, TRYING_BUCKETS, TRYING_CHUNKS };

static struct {
    enum state state;
    const ddp_options *options;
    ddp_group *group;
    ddp_trainer *trainer;
    ddp_tune_place place; /* on rank 0 */
    ddp_tune_found found; /* in it, where as_is_s is not 0; the same on every rank */

    ddp_tuning configs[CONFIGS]; /* that are tried; the first as asked for, or as found so far */
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
        tune.place = ddp_tune_place_open(options, group, trainer, directory, cfg, &tune.found);
    if (ddp_broadcast(group, &tune.found, sizeof tune.found, 0, err))
        return ddp_wrap(err, "-ddp_autotune");
    tune.state = WARMING;
    if (tune.found.as_is_s <= 0)
        return DDP_OK;
    buckets = ddp_bucketing_of(&tune.found.tuning);
    return ddp_trainer_use_buckets(trainer, &buckets, err);
}

static void print_before(void)
{
    ddp_tune_print_buckets("tuned before", &tune.found);
    ddp_tune_print_chunks("tuned before", &tune.found, ddp_group_chunks(tune.group),
                          tune.place.path);
}

/* Does the run end before all is tried? */
static int is_too_short(const ddp_position *now, int *steps)
{
    *steps = WARM + TIMED + (BUCKETS + CHUNKS) * DDP_TUNE_ROUNDS * (UNCOUNTED + COUNTED);
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
    if (tune.place.why)
        printf("DDP: -ddp_autotune: %s %s\n", tune.place.path, tune.place.why);
    if (tune.found.as_is_s > 0)
        print_before();
    else if (too_short)
        printf("DDP: -ddp_autotune takes up to %d steps, more than this run has: buckets "
               "and chunks stay as they are\n",
               steps);
    else
        printf("DDP: -ddp_autotune tries other buckets and chunks in the next steps, at most %d\n",
               steps);
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

static const char *tuned(size_t best, const char *nothing_to_try)
{
    if (best > 0)
        return "tuned";
    return tune.count > 1 ? "tuned, and none of those tried was faster by 3 %, and each time"
                          : nothing_to_try;
}

static ddp_status begin_turn(ddp_error *err)
{
    tune.step = 0;
    return use(&tune.configs[tune.turn % tune.count], err);
}

static ddp_status begin_trial(enum state state, ddp_error *err)
{
    tune.state = state;
    tune.turn = 0;
    return begin_turn(err);
}

/* Does the group travel in these? Where a host cannot share memory for them, it does not. */
static ddp_status try_chunks(const ddp_tuning *t, int *used, ddp_error *err)
{
    ddp_chunks now;

    *used = 0;
    if (use(t, err))
        return err->code;
    now = ddp_group_chunks(tune.group);
    *used = now.bytes == t->chunks.bytes && now.window == t->chunks.window;
    return DDP_OK;
}

/* The same on every rank. */
static ddp_status begin_chunks(ddp_error *err)
{
    ddp_chunk_limits limits = ddp_group_chunk_limits(tune.group);
    ddp_tuning wanted[DDP_TUNE_CHUNKS_TRIED];
    size_t count;

    tune.configs[0] = tune.found.tuning;
    count = ddp_tune_chunks(wanted, &tune.configs[0], &limits);
    tune.count = 1;
    for (size_t i = 0; i < count; i++) {
        int used;

        if (try_chunks(&wanted[i], &used, err))
            return err->code;
        if (used)
            tune.configs[tune.count++] = wanted[i];
    }
    return begin_trial(TRYING_CHUNKS, err);
}

static ddp_status end_buckets(size_t best, const double *median_s, ddp_error *err)
{
    tune.found = (ddp_tune_found){
        .tuning = tune.configs[best], .step_s = median_s[best], .as_is_s = median_s[0]};
    if (is_first())
        ddp_tune_print_buckets(tuned(best, "tuned, and nothing is predicted to be faster"),
                               &tune.found);
    return begin_chunks(err);
}

static ddp_status end_chunks(size_t best, const double *median_s, ddp_error *err)
{
    const char *where;

    tune.found.tuning = tune.configs[best];
    tune.found.chunks_step_s = median_s[best];
    tune.found.chunks_as_is_s = median_s[0];
    tune.state = OFF;
    if (use(&tune.found.tuning, err))
        return err->code;
    if (!is_first())
        return DDP_OK;
    where = ddp_tune_place_write(&tune.place, &tune.found) ? tune.place.path : "not kept";
    ddp_tune_print_chunks(tuned(best, "tuned, and these hosts have no memory to share for others"),
                          &tune.found, ddp_group_chunks(tune.group), where);
    return DDP_OK;
}

/* By rank 0's choice. */
static ddp_status end_trial(ddp_error *err)
{
    double median_s[CONFIGS] = {0};
    size_t best;

    if (gather_seconds(err))
        return err->code;
    best = ddp_tune_choose(tune.seconds, tune.count, median_s);
    if (ddp_broadcast(tune.group, &best, sizeof best, 0, err)
        || ddp_broadcast(tune.group, median_s, sizeof median_s, 0, err))
        return err->code;
    if (is_first())
        ddp_tune_print_tried(tune.configs + 1, median_s + 1, tune.count - 1,
                             tune.state == TRYING_CHUNKS);
    return tune.state == TRYING_BUCKETS ? end_buckets(best, median_s, err)
                                        : end_chunks(best, median_s, err);
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
    return begin_trial(TRYING_BUCKETS, err);
}

static ddp_status end_turn(ddp_error *err)
{
    tune.seconds[tune.turn % tune.count][tune.turn / tune.count] =
        ddp_tune_median(tune.counted_s, COUNTED);
    if (++tune.turn == tune.count * DDP_TUNE_ROUNDS)
        return end_trial(err);
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
