#include "cli/measure_run.h"

#include "base/clock.h"
#include "cli/ask.h"
#include "cli/cfg_edit.h"
#include "inputs/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first step also waits for pictures, so it counts as none. */
enum { FEWEST_STEPS = 3, ENOUGH_STEPS = 200, LINE = 8192, NUMBER = 16 };

static const int64_t enough_ns = 10000000000;

struct trial {
    char folder[PATH_MAX / 2];
    char data[PATH_MAX], cfg[PATH_MAX];
    char said[LINE]; /* last, of what is no step */
};

static ddp_status cannot_write(const char *path, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

static ddp_status make_folder(struct trial *t, ddp_error *err)
{
    const char *place = getenv("TMPDIR");

    (void)snprintf(t->folder, sizeof t->folder, "%s/darknet-measure.XXXXXX",
                   place && *place ? place : "/tmp");
    if (!mkdtemp(t->folder))
        return cannot_write(t->folder, err);
    (void)snprintf(t->data, sizeof t->data, "%s/measured.data", t->folder);
    (void)snprintf(t->cfg, sizeof t->cfg, "%s/measured.cfg", t->folder);
    return DDP_OK;
}

static void remove_folder(const struct trial *t)
{
    DIR *d = opendir(t->folder);
    const struct dirent *entry;
    char path[PATH_MAX];

    while (d && (entry = readdir(d))) {
        (void)snprintf(path, sizeof path, "%s/%s", t->folder, entry->d_name);
        if (entry->d_name[0] != '.')
            (void)unlink(path);
    }
    if (d)
        (void)closedir(d);
    (void)rmdir(t->folder);
}

/* All of the .data file but where weights go, and what to validate on. */
static ddp_status write_data(const struct trial *t, const char *data, ddp_error *err)
{
    ddp_sections all = {0};
    FILE *out = NULL;
    ddp_status st = ddp_data_read(&all, data, err);

    if (!st && !(out = fopen(t->data, "w")))
        st = cannot_write(t->data, err);
    for (size_t i = 0; !st && i < all.cfg.count; i++) {
        const ddp_cfg_line *line = &all.cfg.lines[i];

        if (line->value && strcmp(line->key, "backup") != 0 && strcmp(line->key, "valid") != 0)
            (void)fprintf(out, "%s=%s\n", line->key, line->value);
    }
    if (out) {
        (void)fprintf(out, "backup=%s\n", t->folder);
        if (fclose(out) && !st)
            st = cannot_write(t->data, err);
    }
    ddp_sections_release(&all);
    return st;
}

/* A mini-batch for each rank, of one size, for as long as it is let. */
static ddp_status write_cfg(const struct trial *t, const char *text, int ranks, ddp_error *err)
{
    int images = ddp_cfg_number_of(text, "net", "batch", 1)
                 / ddp_cfg_number_of(text, "net", "subdivisions", 1);
    char batch[NUMBER], subdivisions[NUMBER];
    const ddp_cfg_edit edits[] = {{"net", "batch", batch},
                                  {"net", "subdivisions", subdivisions},
                                  {"net", "max_batches", "1000000"},
                                  {"yolo", "random", "0"},
                                  {"region", "random", "0"}};
    char *edited;
    FILE *out;
    int failed;

    (void)snprintf(batch, sizeof batch, "%d", (images > 0 ? images : 1) * ranks);
    (void)snprintf(subdivisions, sizeof subdivisions, "%d", ranks);
    edited = ddp_cfg_edited(text, edits, sizeof edits / sizeof *edits);
    if (!edited)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a cfg");
    out = fopen(t->cfg, "w");
    failed = !out || fputs(edited, out) < 0;
    failed |= out && fclose(out);
    free(edited);
    return failed ? cannot_write(t->cfg, err) : DDP_OK;
}

static void measure(struct trial *t, ddp_measured_run *m, FILE *in, pid_t child)
{
    size_t step, images, first_images = 0;
    int64_t first_ns = 0, now_ns;
    char line[LINE];
    int asked = 0;

    while (fgets(line, sizeof line, in)) {
        if (sscanf(line, "%zu%*[^:]: %*f, %*f avg, %*f rate, %*f seconds, %zu images", &step,
                   &images)
                != 2
            && sscanf(line, "%zu: %*f, %*f avg, %*f rate, %*f seconds, %zu images", &step, &images)
                   != 2) {
            if (line[0] != ' ') /* which says more of the line before */
                (void)snprintf(t->said, sizeof t->said, "%s", line);
            continue;
        }
        now_ns = ddp_clock_ns();
        if (step == 1 || first_ns == 0) {
            first_ns = now_ns;
            first_images = images;
        } else if (!asked && step >= FEWEST_STEPS) {
            m->pictures = images - first_images;
            m->seconds_a_picture = (double)(now_ns - first_ns) / 1e9 / (double)m->pictures;
            asked = now_ns - first_ns >= enough_ns || step >= ENOUGH_STEPS;
            if (asked)
                (void)kill(child, SIGTERM);
        }
    }
}

/* Ctrl-C ends the run that is measured; this process then removes its folder, and ends by it. */
static volatile sig_atomic_t is_interrupted;

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
}

static ddp_status run(struct trial *t, ddp_measured_run *m, const char *command, ddp_error *err)
{
    char ranks[NUMBER];
    const char *args[] = {"darknet",
                          command,
                          "train",
                          t->data,
                          t->cfg,
                          "-ddp",
                          "-ddp_validate",
                          "0",
                          "-nocheck",
                          "-ddp_records",
                          "0",
                          "-ddp_seed",
                          "1",
                          m->ranks > 1 ? "-ddp_ranks" : NULL,
                          ranks,
                          NULL};
    int status;
    pid_t child;
    FILE *in;

    (void)snprintf(ranks, sizeof ranks, "%d", m->ranks);
    child = ddp_ask_start(args, &in);
    if (child < 0)
        return ddp_fail(err, DDP_ERR_IO, "cannot start a run to measure: %s", strerror(errno));
    measure(t, m, in, child);
    (void)fclose(in);
    status = ddp_ask_end(child);
    if (m->seconds_a_picture > 0)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_FORMAT, "a run to measure a step has failed (exit status %d): %s",
                    status, ddp_ask_last_line(t->said));
}

ddp_status ddp_measure_run(ddp_measured_run *measured, const char *data, const char *cfg_text,
                           int ranks, ddp_error *err)
{
    int is_detector = strstr(cfg_text, "[yolo]") || strstr(cfg_text, "[region]")
                      || strstr(cfg_text, "[detection]");
    const struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = SA_RESTART};
    struct sigaction before;
    struct trial t = {.said = ""};
    ddp_status st;

    *measured = (ddp_measured_run){.ranks = ranks};
    if (make_folder(&t, err))
        return err->code;
    (void)sigaction(SIGINT, &action, &before);
    st = write_data(&t, data, err);
    if (!st)
        st = write_cfg(&t, cfg_text, ranks, err);
    if (!st)
        st = run(&t, measured, is_detector ? "detector" : "classifier", err);
    remove_folder(&t);
    (void)sigaction(SIGINT, &before, NULL);
    if (is_interrupted) {
        (void)fprintf(stderr, "darknet: interrupted: nothing was measured or written\n");
        (void)signal(SIGINT, SIG_DFL);
        (void)raise(SIGINT);
    }
    return st;
}
