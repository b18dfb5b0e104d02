#include "run/summary.h"

#include "base/path.h"
#include "base/plural.h"
#include "checkpoint/match.h"
#include "glue/cfg.h"
#include "launch/resume_command.h"
#include "show/step_line.h"
#include "show/terminal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_best(const ddp_validation *validation)
{
    const char *name;
    double figure;
    size_t step;

    if (ddp_validation_best(validation, &name, &figure, &step))
        printf("DDP: best %s %.4f, after step %zu\n", name, figure, step);
}

/* The best weights of this run may be of before it was resumed. */
static void print_earlier_best(const ddp_summary *s, char *const *all, size_t count)
{
    static const char end[] = "_best.weights";
    char *base = ddp_cfg_base(s->cfg), path[PATH_MAX];
    const char *name;
    double figure;
    size_t step;

    (void)snprintf(path, sizeof path, "%s/%s%s", s->directory, base ? base : "", end);
    free(base);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i], path) == 0)
            return;
    if (ddp_validation_best(s->validation, &name, &figure, &step) && access(path, F_OK) == 0)
        printf("%s, ", ddp_path_name(path));
}

/* Which Darknet saves (ema_alpha). */
static void print_average(const ddp_summary *s)
{
    char *base = ddp_cfg_base(s->cfg), path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s_ema.weights", s->directory, base ? base : "");
    free(base);
    if (access(path, F_OK) == 0)
        printf(", %s", ddp_path_name(path));
}

static void print_files(const ddp_summary *s)
{
    size_t count, numbered = 0;
    char *const *all = ddp_checkpoints_saved(s->checkpoints, &count);
    const char *between = "", *newest = NULL;
    char *base = ddp_cfg_base(s->cfg);

    printf("DDP: in %s: ", s->directory);
    print_earlier_best(s, all, count);
    for (size_t i = 0; i < count; i++) {
        if (access(all[i], F_OK))
            continue;
        /* Numbered files may be many: only the last one is named. */
        if (base && ddp_match_is_numbered(ddp_path_name(all[i]), base)) {
            newest = all[i];
            numbered++;
            continue;
        }
        printf("%s%s", between, ddp_path_name(all[i]));
        between = ", ";
    }
    if (newest)
        printf("%s%s", between, ddp_path_name(newest));
    if (numbered > 1)
        printf(" and %zu numbered one%s before it%s", numbered - 1, ddp_plural(numbered - 1),
               ddp_checkpoints_origin(s->checkpoints)->resumed ? " (of this start alone)" : "");
    print_average(s);
    free(base);
    for (char *const *path = s->records; path && *path; path++)
        if (access(*path, F_OK) == 0)
            printf(", %s", ddp_path_name(*path));
    printf("\n");
}

static void print_command(const ddp_summary *s)
{
    const ddp_resume_how how = {.option = "-resume", .patience = s->more_patience};
    char *command = s->stopped || ddp_checkpoints_last_failed(s->checkpoints)
                        ? ddp_resume_command(s->launched, how)
                        : ddp_command_to_train_further(s->launched, s->epochs, s->cfg);
    char *text = ddp_resume_advice(command, ddp_checkpoints_last(s->checkpoints));

    if (text && s->more_patience > 0)
        printf("DDP: with more -patience %s\n", text);
    else if (text)
        printf("DDP: %s\n", text);
    free(text);
    free(command);
}

/* Print the command that ranks the labels of a finished detector's data. */
static void print_suspects(const ddp_summary *s)
{
    if (s->data && !s->stopped)
        printf("DDP: `darknet ddp suspects %s %s` lists the labels that are most likely wrong\n",
               s->data, s->cfg);
}

void ddp_summary_print(const ddp_summary *s)
{
    size_t count;

    ddp_terminal_clear();
    if (!ddp_step_line_print_end("DDP: ", s->stopped ? "stopped after" : "trained to"))
        return;
    print_best(s->validation);
    (void)ddp_checkpoints_saved(s->checkpoints, &count);
    if (count > 0)
        print_files(s);
    if (ddp_checkpoints_last(s->checkpoints)) {
        print_command(s);
        print_suspects(s);
    }
}
