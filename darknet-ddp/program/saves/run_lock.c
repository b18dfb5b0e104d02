#include "saves/run_lock.h"

#include "checkpoint/name_lock.h"
#include "launch/signals.h"
#include "show/rank_output.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static ddp_name_lock *_Atomic owner; /* NULL: nothing is owned */

static void note(const char *sentence)
{
    printf("DDP: %s\n", sentence);
    (void)fflush(stdout);
}

static ddp_status say_lost(ddp_error *err)
{
    ddp_error found = *err;

    ddp_report_forget_resume_hint(); /* its checkpoints are the other run's now, or aside */
    ddp_report_notify_launcher(DDP_NOTE_TAKEN);
    return ddp_fail(err, DDP_ERR_IO, "%s: it has taken over, and this run ends", found.text);
}

static void lost(const ddp_error *err)
{
    ddp_error told = *err;

    (void)say_lost(&told);
    ddp_rank_output_failure(&told);
}

static ddp_status advise(ddp_error *err)
{
    ddp_error found = *err;

    return ddp_fail(
        err, found.code,
        "%s; another backup= or another name of the cfg keeps them apart, -ddp_take_over ends "
        "that run",
        found.text);
}

/* The process ends by a failure. */
static void drop(void)
{
    ddp_name_lock_remove(owner);
}

static ddp_status open_lock(ddp_name_lock **lock, const char *directory, const char *base,
                            const ddp_name_lock_config *config, ddp_error *err)
{
    ddp_status st;
    char *path;

    *lock = NULL;
    if (asprintf(&path, "%s/%s.lock", directory, base) < 0)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", base);
    st = ddp_name_lock_open(lock, path, config, err);
    free(path);
    return st == DDP_ERR_USAGE ? advise(err) : st;
}

ddp_status ddp_run_lock_take(const char *directory, const char *base, int take_over, ddp_error *err)
{
    const ddp_name_lock_config config = {.take_over = take_over,
                                         .note = note,
                                         .on_wait = ddp_rank_output_moves,
                                         .on_own = ddp_signals_remove_untrained,
                                         .on_lost = lost};
    ddp_name_lock *taken;
    ddp_status st = open_lock(&taken, directory, base, &config, err);

    if (st == DDP_ERR_IO) {
        printf("DDP: %s; whether another run saves there is not known\n", err->text);
        return DDP_OK;
    }
    if (st)
        return st;
    ddp_rank_output_at_end(drop);
    owner = taken;
    return DDP_OK;
}

ddp_status ddp_run_lock_probe(const char *directory, const char *base, ddp_error *err)
{
    const ddp_name_lock_config config = {.note = note, .on_wait = ddp_rank_output_moves};
    ddp_name_lock *taken;
    ddp_status st = open_lock(&taken, directory, base, &config, err);

    ddp_name_lock_close(taken);
    return st == DDP_ERR_IO ? DDP_OK : st;
}

ddp_status ddp_run_lock_check(ddp_error *err)
{
    if (!owner || ddp_name_lock_check(owner, err) == DDP_OK)
        return DDP_OK;
    return say_lost(err);
}

int ddp_run_lock_restore(const char *directory)
{
    if (access(directory, F_OK) == 0 || errno != ENOENT || mkdir(directory, 0777))
        return 0;
    (void)fprintf(stderr,
                  "darknet: %s is not there any more, removed or moved, and is made again, without "
                  "the weights that it had\n",
                  directory);
    if (owner)
        ddp_name_lock_renew(owner);
    return 1;
}

void ddp_run_lock_give_back(void)
{
    ddp_name_lock_close(atomic_exchange(&owner, NULL));
}
