#include "cli/plain_run.h"

#include "base/clock.h"
#include "checkpoint/match.h"
#include "glue/cfg.h"
#include "saves/displaced.h"
#include "saves/earlier_run.h"
#include "show/step_line.h"
#include "show/terminal.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int darknet_main(int argc, char **argv);

/* What its weights are named by; NULL: nothing is known of it. */
static char *base;

ddp_status ddp_plain_run_make_way(const ddp_arguments *a, ddp_error *err)
{
    char folder[PATH_MAX];

    if (!a->cfg)
        return DDP_OK;
    ddp_arguments_backup(a, folder, sizeof folder);
    base = ddp_cfg_base(a->cfg);
    return ddp_earlier_run_make_way(folder, base, a->weights, err);
}

static void show_line(const ddp_train_position *position, const char *line)
{
    const ddp_progress_now now = {.now_ns = ddp_clock_ns(),
                                  .communication_ns = -1,
                                  .loading_ns = -1,
                                  .images = position->images,
                                  .step = position->step,
                                  .last_step = position->last_step};

    ddp_step_line_show(&now, line, NULL);
}

/* Darknet cannot go on. Loader threads may fail together. */
static void end(int status, const char *message) __attribute__((noreturn));

static void end(int status, const char *message)
{
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;

    (void)pthread_mutex_lock(&first);
    ddp_terminal_clear();
    (void)fprintf(stderr, "%s\n", message);
    (void)fflush(NULL);
    _exit(status); /* exit() would tear down what other threads are computing with */
}

/* Weights that a run of another cfg has saved with -ddp may have a name of its own. */
static void keep_of_another(const char *path)
{
    ddp_error err;

    if (base && (ddp_match_promote(path, &err) || ddp_displaced_keep_of_another(path, base, &err)))
        end(1, err.text);
}

void ddp_plain_run_configure(ddp_darknet_config *darknet)
{
    darknet->line = show_line;
    darknet->saves = keep_of_another;
    darknet->fatal = end;
    if (!isatty(STDERR_FILENO))
        darknet->table = NULL; /* a script may read it */
}

int ddp_plain_run_train(int argc, char **argv)
{
    int status = darknet_main(argc, argv);

    ddp_terminal_clear();
    (void)ddp_step_line_print_end("", "Trained to");
    return status;
}
