#include "show/run_files.h"

#include "base/clock.h"
#include "glue/cfg.h"
#include "monitor/csv.h"
#include "monitor/history.h"
#include "monitor/tensorboard.h"
#include "show/csv_columns.h"
#include "show/page_file.h"
#include "show/page_pictures.h"
#include "show/rank_output.h"
#include "show/run_log.h"
#include "show/run_messages.h"
#include "show/step_timing.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { POINTS = 1000 }; /* of a chart */

enum { CSV, PAGE, LOG, FILES };

struct ddp_run_files {
    ddp_run_files_config config;
    char *name, *banner, *command;
    char *paths[FILES + 1]; /* beside the weights; NULL behind the last */
    ddp_csv_columns columns;
    ddp_page_pictures *views; /* NULL: none */
    ddp_csv *csv;             /* NULL: it cannot be written */
    size_t rows;              /* rows that this run has added */
    ddp_history *history;
    ddp_tensorboard *tensorboard;
    double *row; /* columns, then waits */
    size_t lines;
    ddp_train_position now;
    ddp_step_timing times;
    int64_t began_ns;
    size_t began_at; /* step at began_ns */
    ddp_page_file page;
    int csv_failed, events_failed; /* 1: a failure, of the CSV or event file, was said */
    int has_saved;                 /* 1: weights were saved since the last row */
};

void ddp_run_files_close(ddp_run_files *r)
{
    if (!r)
        return;
    ddp_csv_close(r->csv);
    ddp_tensorboard_close(r->tensorboard);
    ddp_history_close(r->history);
    ddp_csv_columns_release(&r->columns);
    ddp_page_pictures_close(r->views);
    free(r->name);
    free(r->banner);
    free(r->command);
    for (int i = 0; i < FILES; i++)
        free(r->paths[i]);
    ddp_page_file_release(&r->page);
    free(r->row);
    free(r);
}

/* ---- opening ---- */

static void add_to_history(ddp_run_files *r)
{
    ddp_history_add(r->history, r->row[DDP_COLUMN_STEP], r->row);
}

/* Take a row of the run that this one goes on from. */
static void recall(void *ctx, const double *values)
{
    ddp_run_files *r = ctx;
    size_t key = r->columns.key, step = (size_t)values[DDP_COLUMN_STEP];

    memcpy(r->row, values, r->columns.count * sizeof *values);
    for (size_t i = 0; i < DDP_WAITS_COLUMNS; i++)
        r->row[r->columns.count + i] = NAN;
    add_to_history(r);
    if (key && !isnan(values[key]) && step > r->config.origin->valid_since)
        ddp_validation_add_earlier(r->config.validation, step, values[key]);
}

static const char *const endings[FILES] = {[CSV] = "csv", [PAGE] = "html", [LOG] = "log"};

static ddp_status name_files(ddp_run_files *r, ddp_error *err)
{
    const char *directory = r->config.directory;

    r->name = ddp_cfg_base(r->config.cfg);
    r->banner = strdup(r->config.banner);
    r->command = strdup(r->config.command);
    for (int i = 0; i < FILES; i++)
        if (asprintf(&r->paths[i], "%s/%s.%s", directory, r->name, endings[i]) < 0)
            r->paths[i] = NULL;
    if (!r->name || !r->banner || !r->command || !r->paths[CSV] || !r->paths[PAGE]
        || !r->paths[LOG])
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of files");
    return ddp_page_file_init(&r->page, r->paths[PAGE], err);
}

static ddp_status make_history(ddp_run_files *r, ddp_error *err)
{
    size_t columns;

    if (ddp_csv_columns_init(&r->columns, ddp_validation_kind(r->config.validation), r->config.best,
                             r->config.heads, err)
        || ddp_page_pictures_open(&r->views, r->config.validation, err))
        return err->code;
    columns = r->columns.count + DDP_WAITS_COLUMNS;
    r->row = calloc(columns, sizeof *r->row);
    if (!r->row)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu figures", columns);
    for (size_t i = 0; i < columns; i++)
        r->row[i] = NAN;
    return ddp_history_open(&r->history, columns, POINTS, err);
}

static void open_log(const ddp_run_files *r)
{
    const char *data = r->config.data;
    char date[64], folder[4096], *head;
    time_t now = time(NULL);
    struct tm local;

    if (!localtime_r(&now, &local) || strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local) == 0)
        date[0] = 0;
    if (!getcwd(folder, sizeof folder))
        folder[0] = 0;
    if (asprintf(&head, "# %s, darknet-ddp " DDP_VERSION "\n# in %s: %s\n# cfg %s\n%s%s%s", date,
                 folder, r->command, r->config.cfg, data ? "# data " : "", data ? data : "",
                 data ? "\n" : "")
        < 0)
        return;
    ddp_run_log_open(r->paths[LOG], r->config.resumed, head);
    ddp_report_notify_launcher_of_log(r->paths[LOG]);
    free(head);
}

/* Copy the CSV file before rows are cut. why: what its rows are, for a message. */
static void keep_rows(const ddp_run_files *r, const char *why)
{
    char old[PATH_MAX];
    ddp_error err;

    if (access(r->paths[CSV], F_OK))
        return;
    if (ddp_csv_copy(r->paths[CSV], old, sizeof old, &err))
        ddp_print_goes_on("%s", err.text);
    else
        ddp_print_kept(r->paths[CSV], why, old);
}

/* Return 1 for a row of a step after the resumed one that proves a lost checkpoint. It does if a
 * checkpoint is known to be damaged, or if the row tells of a validation or a save. The save at
 * which the run goes on is in the first row behind it. */
static int is_of_lost_save(void *ctx, const double *values)
{
    const ddp_run_files *r = ctx;
    double behind = values[DDP_COLUMN_STEP] - (double)r->config.start.step;
    size_t key = r->columns.key;

    return behind > 0
           && (r->config.origin->passed_over || (key && !isnan(values[key]))
               || (behind > 1 && values[DDP_COLUMN_SAVE] > 0));
}

/* Open the CSV file when there is a row, or before, to go on. The run goes on without it if that
 * fails. */
static void open_csv(ddp_run_files *r)
{
    const char *const *names = (const char *const *)r->columns.names;
    uint64_t step = r->config.resumed ? r->config.start.step : 0;
    ddp_error err;

    if (r->config.origin->saved_step > step)
        keep_rows(r, "which counts batches of another size");
    else if (step > 0 && ddp_csv_any(r->paths[CSV], names, r->columns.count, is_of_lost_save, r))
        keep_rows(r, "which has rows up to a later checkpoint");
    if (ddp_csv_open(&r->csv, r->paths[CSV], names, r->columns.count, step, recall, r, &err))
        ddp_print_goes_on("%s", err.text);
    else if (ddp_csv_old(r->csv) && step > 0)
        ddp_print_kept(r->paths[CSV], "whose columns are others now", ddp_csv_old(r->csv));
}

static ddp_status open_all(ddp_run_files *r, ddp_error *err)
{
    const char *folder = r->config.tensorboard;

    if (name_files(r, err) || make_history(r, err))
        return err->code;
    if (folder && ddp_tensorboard_open(&r->tensorboard, folder, (double)time(NULL), err))
        return ddp_wrap(err, "-tensorboard");
    if (r->config.resumed) {
        open_csv(r);
        open_log(r);
    }
    ddp_step_timing_begin(&r->times, r->config.trainer, r->config.start.images);
    r->began_ns = ddp_clock_ns();
    r->began_at = r->config.start.step;
    r->now = r->config.start;
    return DDP_OK;
}

ddp_status ddp_run_files_open(ddp_run_files **out, const ddp_run_files_config *config,
                              ddp_error *err)
{
    ddp_run_files *r = calloc(1, sizeof *r);

    *out = NULL;
    if (!r)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the figures of the run");
    r->config = *config;
    if (open_all(r, err)) {
        ddp_run_files_close(r);
        return err->code;
    }
    *out = r;
    return DDP_OK;
}

char *const *ddp_run_files_paths(const ddp_run_files *r)
{
    return r ? r->paths : NULL;
}

void ddp_run_files_list(ddp_run_files *r, size_t lines)
{
    if (r)
        r->lines = lines;
}

void ddp_run_files_found(void *ctx, const ddp_detection *found, size_t count,
                         const ddp_truth *truths, size_t truth_count)
{
    const ddp_run_files *r = ctx;

    if (r)
        ddp_page_pictures_take(r->views, found, count, truths, truth_count);
}

/* ---- the page ---- */

/* Return the seconds that the run still takes, by the steps so far. */
static double seconds_left(const ddp_run_files *r)
{
    double done = (double)(r->now.step - r->began_at);
    double seconds = (double)(r->times.last.now_ns - r->began_ns) / 1e9;

    if (r->now.last_step < r->now.step || done < 1)
        return NAN;
    return seconds / done * (double)(r->now.last_step - r->now.step);
}

static void write_page(ddp_run_files *r, const char *status)
{
    const ddp_page_model page = {.name = r->name,
                                 .status = status,
                                 .banner = r->banner,
                                 .command = r->command,
                                 .views = r->views,
                                 .columns = &r->columns,
                                 .history = r->history,
                                 .row = r->row,
                                 .waits = r->config.waits,
                                 .validation = r->config.validation,
                                 .now = r->now,
                                 .remaining_s = seconds_left(r)};

    ddp_page_file_write(&r->page, &page);
}

/* ---- a step ---- */

void ddp_run_files_saving(ddp_run_files *r)
{
    if (!r)
        return;
    ddp_run_log_flush();
    ddp_step_timing_saving(&r->times);
    if (r->csv)
        ddp_csv_flush(r->csv, 1);
}

void ddp_run_files_bring_back(ddp_run_files *r)
{
    if (!r)
        return;
    if (r->csv)
        ddp_csv_bring_back(r->csv, r->paths[CSV]);
    if (r->rows > 0 && access(r->paths[PAGE], F_OK))
        write_page(r, "training");
    ddp_run_log_bring_back();
}

void ddp_run_files_saved(ddp_run_files *r)
{
    if (!r)
        return;
    ddp_run_files_bring_back(r);
    ddp_step_timing_saved(&r->times);
    r->has_saved = 1;
}

static double peak_memory_mib(void)
{
    struct rusage use;

    return getrusage(RUSAGE_SELF, &use) ? (double)NAN : (double)use.ru_maxrss / 1024;
}

static void fill_position(ddp_run_files *r)
{
    r->row[DDP_COLUMN_STEP] = (double)r->now.step;
    r->row[DDP_COLUMN_IMAGES] = (double)r->now.images;
    r->row[DDP_COLUMN_EPOCH] = r->lines ? (double)r->now.images / (double)r->lines : (double)NAN;
}

void ddp_run_files_step(ddp_run_files *r, const ddp_train_position *now, const ddp_figures *figures)
{
    if (!r)
        return;
    ddp_step_timing_end(&r->times, now->images, r->row);
    r->now = *now;
    fill_position(r);
    r->row[DDP_COLUMN_LOSS] = figures->loss;
    r->row[DDP_COLUMN_AVERAGE] = figures->average_loss;
    r->row[DDP_COLUMN_RATE] = figures->rate;
    r->row[DDP_COLUMN_MEMORY] = peak_memory_mib();
    ddp_csv_columns_fill_heads(&r->columns, figures->heads, r->row);
}

static void say_lost_of(const char *path, size_t lost, const char *why, int *was_said)
{
    if (lost > 0 && !*was_said)
        ddp_print_goes_on("cannot write %s: %s", path, why ? why : "no memory");
    *was_said |= lost > 0;
}

static void say_lost(ddp_run_files *r)
{
    const char *why;
    size_t lost;

    if (r->csv) {
        lost = ddp_csv_lost(r->csv, &why);
        say_lost_of(r->paths[CSV], lost, why, &r->csv_failed);
    }
    if (r->tensorboard) {
        lost = ddp_tensorboard_lost(r->tensorboard, &why);
        say_lost_of(r->config.tensorboard, lost, why, &r->events_failed);
    }
}

static void add_to_csv(ddp_run_files *r)
{
    if (r->rows++ == 0 && !r->config.resumed) {
        open_csv(r);
        open_log(r);
    }
    if (!r->csv)
        return;
    ddp_csv_add(r->csv, r->row);
    if (r->has_saved)
        ddp_csv_flush(r->csv, 1);
    r->has_saved = 0;
}

static void flush(ddp_run_files *r)
{
    if (r->tensorboard)
        ddp_tensorboard_flush(r->tensorboard);
}

static void add_to_tensorboard(ddp_run_files *r)
{
    double now_s = (double)time(NULL);

    for (size_t i = DDP_COLUMN_STEP + 1; r->tensorboard && i < r->columns.count; i++)
        if (!isnan(r->row[i]))
            ddp_tensorboard_add(r->tensorboard, now_s, (int64_t)r->now.step, r->columns.names[i],
                                (float)r->row[i]);
}

static void add_row(ddp_run_files *r)
{
    add_to_csv(r);
    add_to_tensorboard(r);
    add_to_history(r);
    say_lost(r);
}

/* Add a validation to the last row: the run had not been able to validate, or had validated and
 * lost the weights. */
static void complete_last(ddp_run_files *r, const ddp_validation_result *result)
{
    size_t key = r->columns.key;

    if (!r->csv || !key || !isnan(r->row[key]))
        return;
    ddp_csv_columns_fill(&r->columns, result, r->row);
    ddp_csv_replace_last(r->csv, r->row);
    r->rows++;
    add_to_tensorboard(r);
    add_to_history(r);
    say_lost(r);
}

void ddp_run_files_add_missed(ddp_run_files *r, const ddp_train_position *now,
                              const ddp_validation_result *result)
{
    if (!r)
        return;
    if (r->row[DDP_COLUMN_STEP] == (double)now->step) {
        complete_last(r, result);
        return;
    }
    for (size_t i = 0; i < r->columns.count + DDP_WAITS_COLUMNS; i++)
        r->row[i] = NAN;
    r->now = *now;
    fill_position(r);
    ddp_csv_columns_fill(&r->columns, result, r->row);
    add_row(r);
}

void ddp_run_files_add(ddp_run_files *r, const ddp_validation_result *result)
{
    int64_t now_ns;

    if (!r)
        return;
    ddp_csv_columns_fill(&r->columns, result, r->row);
    r->row[DDP_COLUMN_SAVE] = ddp_step_timing_save_s(&r->times);
    ddp_wait_shares_fill(r->config.waits, r->row + r->columns.count);
    add_row(r);
    now_ns = ddp_clock_ns();
    if (ddp_page_file_is_due(&r->page, now_ns)) {
        flush(r);
        write_page(r, "training");
        now_ns = ddp_clock_ns();
    }
    ddp_step_timing_next(&r->times, now_ns);
}

void ddp_run_files_end(ddp_run_files *r, const char *how)
{
    if (!r || r->rows == 0)
        return;
    if (r->csv)
        ddp_csv_flush(r->csv, 1);
    flush(r);
    say_lost(r);
    write_page(r, how);
    ddp_run_log_flush();
}
