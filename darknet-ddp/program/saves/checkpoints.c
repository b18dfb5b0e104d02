/* Resumes a run, and does the first half of a save: decides whether it is due, and gathers what the
 * ranks hold. saves/async_writer.c has the second half. */
#include "saves/checkpoints.h"

#include "base/file.h"
#include "checkpoint/match.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "glue/cfg.h"
#include "glue/train_position.h"
#include "launch/supervisor.h"
#include "saves/async_writer.h"
#include "saves/displaced.h"
#include "saves/earlier_run.h"
#include "saves/remembered_options.h"
#include "saves/resume_messages.h"
#include "saves/run_lock.h"
#include "saves/saved_files.h"
#include "show/rank_output.h"
#include "show/run_messages.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ddp_checkpoints {
    const ddp_algorithm_set *algorithms; /* NULL: none */
    const ddp_options *options;
    ddp_group *group;
    ddp_trainer *trainer;
    const char *directory;
    const char *first_weights; /* what the network was loaded from; NULL: nothing */
    char *base;
    void *cfg; /* the text, on rank 0 */
    ddp_checkpoint_run run;
    ddp_checkpoint_guard guard;
    ddp_pair_header earlier; /* what was there before this run, on rank 0 */
    ddp_run_origin origin;
    ddp_resumed from;        /* on rank 0 */
    size_t began_at;         /* images seen when training began */
    size_t began_step;       /* the step then, of a run that went on; else SIZE_MAX */
    ddp_async_writer *saver; /* NULL: nothing was saved yet */
    ddp_saved_files saved;
    ddp_saved_files own; /* paths that the run has saved to; of the thread that saves */
    int save_failed;     /* the last one */
    double save_s;       /* that it took to write */
};

/* ---- back ---- */

/* The findings of rank 0 that all ranks learn. */
struct found {
    uint64_t seed;
    int32_t resumed, validated;
};

/* On rank 0: own the name, and see what is there. Nobody's run is ended for one that is refused for
 * its cfg or options. */
static ddp_status read_files(ddp_checkpoints *c, const ddp_checkpoints_config *config,
                             ddp_error *err)
{
    uint64_t size;

    const ddp_options *o = config->options;

    if (ddp_file_read(config->cfg, SIZE_MAX, &c->cfg, &c->run.cfg_bytes, &size, err))
        return err->code;
    c->run.cfg = c->cfg;
    if (o->take_over && (o->resume || o->resume_force)
        && ddp_checkpoint_check_resume(c->directory, &c->run, err))
        return ddp_resume_explain(&c->from, &c->run, c->directory, c->base, err);
    if (ddp_run_lock_take(c->directory, c->base, o->take_over, err)
        || ddp_earlier_run_recover(c->directory, c->base, err)
        || ddp_pair_latest(&c->earlier, c->directory, c->base, err))
        return err->code;
    c->run.saved_at_ns = c->earlier.newest_saved_at_ns;
    return DDP_OK;
}

/* On rank 0: do what the START row of what is there says (checkpoint/find.h). c->from.weights is
 * NULL where the run begins anew. */
static ddp_status load_newest(ddp_checkpoints *c, network *net, ddp_error *err)
{
    ddp_status st =
        ddp_checkpoint_resume(&c->from, net, c->directory, &c->run, &ddp_resume_printer, err);
    int came = 0;

    if (!st && c->from.there == DDP_THERE_NOTHING && !ddp_supervisor_must_resume())
        st = ddp_earlier_run_bring_back(&came, c->directory, &c->run, err);
    if (!st && came)
        st = ddp_checkpoint_resume(&c->from, net, c->directory, &c->run, &ddp_resume_printer, err);
    return st ? ddp_resume_explain(&c->from, &c->run, c->directory, c->base, err)
              : ddp_resume_tell(&c->from, &c->run, c->algorithms, c->directory, err);
}

/* A validation is followed by a save of BASE_last.weights: is there that of this step? */
static int has_validated(const ddp_checkpoints *c, uint64_t step)
{
    char path[PATH_MAX];
    ddp_checkpoint_metadata metadata;
    ddp_error ignored;

    (void)snprintf(path, sizeof path, "%s/%s_last.weights.state", c->directory, c->base);
    return !ddp_checkpoint_peek(&metadata, path, &ignored) && metadata.step == step;
}

/* Rank 0 reads; all learn whether it went on, and with what seed. */
static ddp_status resume(ddp_checkpoints *c, network *net, uint64_t *seed, ddp_error *err)
{
    struct found found = {.seed = *seed};

    if (!c->options->resume && !c->options->resume_force)
        return DDP_OK;
    if (ddp_group_rank(c->group) == 0) {
        if (load_newest(c, net, err))
            return err->code;
        found.resumed = c->from.weights != NULL;
        found.validated = has_validated(c, c->from.metadata.step);
        if (found.resumed && !c->from.weights_alone && !c->run.seed_given)
            found.seed = c->from.metadata.seed;
        if (c->from.metadata.saved_at_ns > c->run.saved_at_ns)
            c->run.saved_at_ns = c->from.metadata.saved_at_ns;
    }
    if (ddp_broadcast(c->group, &found, sizeof found, 0, err))
        return ddp_wrap(err, "what to resume from");
    c->origin = (ddp_run_origin){.resumed = found.resumed,
                                 .validated = found.validated,
                                 .saved_step = (size_t)c->from.metadata.step,
                                 .passed_over = c->from.passed_over};
    *seed = found.seed;
    c->run.seed = found.seed;
    return DDP_OK;
}

void ddp_checkpoints_close(ddp_checkpoints *c)
{
    if (!c)
        return;
    ddp_async_writer_close(c->saver);
    ddp_resumed_release(&c->from);
    ddp_saved_files_release(&c->saved);
    ddp_saved_files_release(&c->own);
    free(c->earlier.weights);
    free(c->base);
    free(c->cfg);
    free(c);
}

/* Make room at path before the new weights get that name, by the SAVE rows of
 * checkpoint/starts.def. On the thread that saves. */
static ddp_status make_room(void *ctx, const char *path, ddp_error *err)
{
    ddp_checkpoints *c = ctx;
    int is_own =
        ddp_saved_files_has(&c->own, path)
        || (c->from.weights && !c->from.weights_alone && strcmp(c->from.weights, path) == 0);

    ddp_saved_files_add(&c->own, path);
    return ddp_displaced_keep(path, c->base, is_own, c->began_step, err);
}

static ddp_status open_checkpoints(ddp_checkpoints *c, const ddp_checkpoints_config *config,
                                   network *net, uint64_t *seed, ddp_error *err)
{
    uint64_t valid_since;

    c->options = config->options;
    c->group = config->group;
    c->trainer = config->trainer;
    c->algorithms = ddp_trainer_algorithms(config->trainer);
    c->directory = config->directory;
    c->first_weights = config->first_weights;
    c->base = ddp_cfg_base(config->cfg);
    c->guard = (ddp_checkpoint_guard){make_room, c};
    c->run = (ddp_checkpoint_run){.device = ddp_group_device(c->group),
                                  .base = c->base,
                                  .seed = *seed,
                                  .guard = &c->guard,
                                  .seed_given = c->options->seed >= 0,
                                  .force = c->options->resume_force,
                                  .first_weights = config->first_weights,
                                  .state = ddp_algorithm_set_state(c->algorithms),
                                  .shares = ddp_algorithm_set_is_sharded(c->algorithms),
                                  .ranks = (uint64_t)ddp_group_size(c->group)};
    if (ddp_remember_options(&c->run, c->options, ddp_group_size(c->group), config->inputs, err)
        || (ddp_group_rank(c->group) == 0 && read_files(c, config, err))
        || resume(c, net, seed, err)
        || ddp_remember_validation(&c->run, &valid_since, &c->from.metadata, config->valid, err))
        return err->code;
    c->origin.valid_since = (size_t)valid_since;
    if (c->origin.resumed)
        ddp_trainer_set_resumed(c->trainer, 0, ddp_saved_moments_source(c->from.moments));
    return DDP_OK;
}

ddp_status ddp_checkpoints_open(ddp_checkpoints **out, const ddp_checkpoints_config *config,
                                network *net, uint64_t *seed, ddp_error *err)
{
    ddp_checkpoints *c = calloc(1, sizeof *c);

    *out = NULL;
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for checkpoints");
    if (open_checkpoints(c, config, net, seed, err)) {
        ddp_checkpoints_close(c);
        return err->code;
    }
    *out = c;
    return DDP_OK;
}

void ddp_checkpoints_attached(ddp_checkpoints *c)
{
    ddp_saved_moments_close(c->from.moments);
    c->from.moments = NULL;
}

/* ---- there ---- */

/* Where nothing was trained, what there is to save is what was read: a file of somebody else's
 * that is no result of this run, or the very checkpoint that it was resumed from. Resumed from
 * another one, the run ended before it could save this. */
static int is_due(const ddp_checkpoints *c, const network *net, const char *path)
{
    if (ddp_train_position_of(net).images != c->began_at)
        return 1;
    return c->from.weights && strcmp(c->from.weights, path) != 0 && !ddp_displaced_is_foreign(path);
}

/* Is a save due? Where other ranks take part in it, rank 0 tells them: only it knows what the run
 * was resumed from. */
static ddp_status agree_on_due(const ddp_checkpoints *c, const network *net, const char *path,
                               int *due, ddp_error *err)
{
    *due = is_due(c, net, path);
    if (ddp_train_position_of(net).images != c->began_at
        || (!ddp_state_has_rank_arrays(c->run.state) && !c->run.sharded))
        return DDP_OK;
    return ddp_broadcast(c->group, due, sizeof *due, 0, err);
}

static ddp_status name_last(const ddp_checkpoints *c, ddp_error *err)
{
    const char *last = ddp_checkpoints_last(c);
    ddp_error found = *err;

    return ddp_fail(err, found.code, "%s; %s%s", found.text,
                    last ? "the last good weights are " : "no weights were saved before",
                    last ? last : "");
}

/* Start to save net. On rank 0. */
static ddp_status save_on_rank_0(ddp_checkpoints *c, network *net, const char *path, int cutoff,
                                 ddp_error *err)
{
    ddp_status st;

    if (ddp_run_lock_check(err))
        return err->code;
    (void)ddp_run_lock_restore(c->directory);
    (void)fprintf(stderr, "Saving weights to %s\n", path);
    if (!c->saver && ddp_async_writer_open(&c->saver, &c->run, c->directory, c->options->keep, err))
        return err->code;
    st = ddp_async_writer_save(c->saver, net, path, cutoff, err);
    return st == DDP_ERR_FORMAT ? name_last(c, err) : st; /* the weights, not the disk */
}

ddp_status ddp_checkpoints_save(ddp_checkpoints *c, network *net, const char *path, int cutoff,
                                ddp_error *err)
{
    ddp_sharded *sharded = ddp_algorithm_set_moments(c->algorithms);
    ddp_error ended;
    ddp_status st;
    int due;

    c->run.sharded = sharded;
    if (agree_on_due(c, net, path, &due, err)
        || (due && c->run.state && ddp_state_gather(c->run.state, c->group, err)))
        return err->code;
    if (ddp_group_rank(c->group) != 0)
        return due && sharded ? ddp_sharded_serve_blocks(sharded, err) : DDP_OK;
    if (!due) {
        printf("DDP: nothing was trained, so %s is not written\n", path);
        return DDP_OK;
    }
    st = save_on_rank_0(c, net, path, cutoff, err);
    if (sharded && st != DDP_ERR_COMM && ddp_sharded_ask_end(sharded, &ended) && !st) {
        *err = ended;
        return err->code;
    }
    return st ? st : ddp_checkpoints_poll(c, 0, err);
}

/* ---- what has become of saves ---- */

ddp_status ddp_checkpoints_poll(ddp_checkpoints *c, int wait, ddp_error *err)
{
    ddp_async_result news;

    if (!c || !c->saver)
        return DDP_OK;
    ddp_async_writer_poll(c->saver, wait, &news);
    if (news.ended) {
        c->save_failed = news.last_failed;
        c->save_s = news.seconds;
    }
    for (int i = 0; i < news.saved_count; i++) {
        ddp_saved_files_add(&c->saved, news.saved[i]);
        free(news.saved[i]);
    }
    if (news.saved_count > 0)
        ddp_report_notify_launcher(DDP_NOTE_SAVED);
    if (!news.status)
        return DDP_OK;
    *err = news.error;
    if (c->options->on_save_error != DDP_SAVE_ERROR_CONTINUE)
        return err->code;
    ddp_print_goes_on("%s", err->text);
    return DDP_OK;
}

int ddp_checkpoints_are_written(const ddp_checkpoints *c)
{
    return !c->saver || ddp_async_writer_is_idle(c->saver);
}

const char *ddp_checkpoints_last(const ddp_checkpoints *c)
{
    if (!c)
        return NULL;
    return c->saved.count ? ddp_saved_files_last(&c->saved) : c->from.weights;
}

char *const *ddp_checkpoints_saved(const ddp_checkpoints *c, size_t *count)
{
    *count = c->saved.count;
    return c->saved.paths;
}

double ddp_checkpoints_seconds(const ddp_checkpoints *c)
{
    return c->save_s;
}

int ddp_checkpoints_last_failed(const ddp_checkpoints *c)
{
    return c && c->save_failed;
}

/* ---- what else a run that begins asks ---- */

const ddp_run_origin *ddp_checkpoints_origin(const ddp_checkpoints *c)
{
    return &c->origin;
}

ddp_status ddp_checkpoints_check_list(ddp_checkpoints *c, ddp_list list, ddp_error *err)
{
    c->run.list_count = (uint64_t)list.count;
    c->run.list_hash = list.hash;
    if (!c->from.weights
        || !ddp_checkpoint_check_list(&c->from.metadata, c->run.list_count, c->run.list_hash, err))
        return DDP_OK;
    if (!c->options->resume_force)
        return ddp_resume_explain(&c->from, &c->run, c->directory, c->base, err);
    printf("DDP: resumed all the same: %s\n", err->text);
    return DDP_OK;
}

ddp_status ddp_checkpoints_labelled(ddp_checkpoints *c, char *has, size_t n, ddp_error *err)
{
    if (c->from.weights && !c->options->resume_force
        && ddp_recall_unlabelled(&c->from.metadata, has, n, err))
        return err->code;
    return ddp_broadcast(c->group, has, n, 0, err) ? err->code
                                                   : ddp_remember_unlabelled(&c->run, has, n, err);
}

ddp_status ddp_checkpoints_keep_before_average(const ddp_checkpoints *c, const char *path,
                                               ddp_error *err)
{
    return ddp_displaced_keep_before_average(path, c->base, err);
}

/* Remove the parts of files that a run left which was killed while it saved. */
static void remove_dead_parts(const ddp_checkpoints *c)
{
    char base[PATH_MAX];

    (void)snprintf(base, sizeof base, "%s/%s", c->directory, c->base);
    ddp_file_remove_dead_parts(base, ddp_match_is_pair_file);
}

ddp_status ddp_checkpoints_begin(ddp_checkpoints *c, const network *net, int is_finished,
                                 ddp_error *err)
{
    const ddp_train_position now = ddp_train_position_of(net);

    c->began_at = now.images;
    c->began_step = c->origin.resumed ? now.step : SIZE_MAX;
    if (ddp_group_rank(c->group) == 0)
        remove_dead_parts(c);
    if (is_finished || ddp_group_rank(c->group) != 0)
        return DDP_OK;
    if (ddp_run_lock_check(err))
        return err->code;
    if (c->origin.resumed)
        return ddp_earlier_run_keep_final(c->directory, c->base, err);
    /* A job that starts again has set an earlier run's files aside. A pair that lies here now was
     * saved just before the job failed, or by another run, where rank 0 is on another host. */
    if (ddp_supervisor_restarted() && !c->earlier.weights)
        return DDP_OK;
    return ddp_earlier_run_set_aside(c->directory, c->base, &c->earlier, c->first_weights, err);
}
