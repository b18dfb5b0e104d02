#include "show/step_line.h"

#include "base/plural.h"
#include "show/run_log.h"
#include "show/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SEGMENTS = 16, TEXT = 64 };

static struct {
    int every;
    int begun;
    size_t steps; /* steps that have ended */
    ddp_progress progress;
    ddp_progress_figures figures; /* of the last step */
} run;

void ddp_step_line_open(int every)
{
    run.every = every;
    run.begun = 0;
    run.steps = 0;
}

void ddp_step_line_begin(const ddp_progress_now *now)
{
    ddp_progress_start(&run.progress, now);
    run.begun = 1;
}

static void describe_validation(const ddp_validation_result *v, char *text, size_t size)
{
    text[0] = 0;
    if (v && v->is_classifier)
        (void)snprintf(text, size, "top-1 %.4f", v->accuracy.top1);
    else if (v)
        (void)snprintf(text, size, "mAP@0.5:0.95 %.4f", v->all.ap);
}

/* ---- on a terminal ---- */

struct line {
    ddp_line_segment segments[SEGMENTS];
    char texts[SEGMENTS][TEXT];
    size_t count;
};

static void add_segment(struct line *l, const char *colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add_segment(struct line *l, const char *colour, const char *format, ...)
{
    va_list args;
    char *text;

    if (l->count == SEGMENTS)
        return;
    text = l->texts[l->count];
    va_start(args, format);
    (void)vsnprintf(text, TEXT, format, args);
    va_end(args);
    l->segments[l->count++] = (ddp_line_segment){.colour = colour, .text = text};
}

static void renew(const char *validation)
{
    static const char *const bold = "1", *const green = "32", *const cyan = "36";
    const ddp_progress *p = &run.progress;
    double communication = ddp_progress_communication(p), remaining_s = ddp_progress_remaining_s(p);
    char left[32];
    struct line l = {.count = 0};

    if (p->last.last_step > 0)
        add_segment(&l, bold, "%zu/%zu", p->last.step, p->last.last_step);
    else
        add_segment(&l, bold, "%zu", p->last.step);
    add_segment(&l, NULL, "  loss ");
    add_segment(&l, green, "%.4g", run.figures.loss);
    add_segment(&l, NULL, " avg ");
    add_segment(&l, green, "%.4g", run.figures.average_loss);
    if (*validation)
        add_segment(&l, cyan, "  %s", validation);
    if (p->steps > 0)
        add_segment(&l, NULL, "  %.1f img/s", ddp_progress_speed(p));
    if (!isnan(communication))
        add_segment(&l, NULL, "  %.0f%% comm", 100 * communication);
    if (ddp_progress_waits_for_loader(p))
        add_segment(&l, NULL, "  %.0f%% loading", 100 * ddp_progress_loading(p));
    if (!isnan(remaining_s)) {
        ddp_duration(remaining_s, left, sizeof left);
        add_segment(&l, NULL, "  %s left", left);
    }
    add_segment(&l, NULL, "  rate %.4g", run.figures.rate);
    ddp_terminal_show(l.segments, l.count);
}

/* ---- a line ---- */

static void print_line(const char *line, const char *validation)
{
    char figures[128] = "", text[1024];

    if (run.progress.last.communication_ns >= 0)
        ddp_progress_line(&run.progress, figures, sizeof figures);
    (void)snprintf(text, sizeof text, "%s%s%s%s\n", line, figures, *validation ? ", " : "",
                   validation);
    if (ddp_terminal_renews())
        ddp_run_log_add_line(text);
    else
        (void)fputs(text, stdout);
}

static int is_due(const ddp_progress_now *now)
{
    return run.steps == 1 || run.every <= 1 || now->step % (size_t)run.every == 0
           || now->step == now->last_step;
}

void ddp_step_line_show(const ddp_progress_now *now, const char *line,
                        const ddp_validation_result *validated)
{
    char validation[TEXT];
    int known = ddp_progress_read(&run.figures, line);

    run.steps++;
    if (run.begun)
        ddp_progress_step(&run.progress, now);
    else
        ddp_step_line_begin(now);
    describe_validation(validated, validation, sizeof validation);
    if (is_due(now))
        print_line(line, validation);
    if (known && ddp_terminal_renews())
        renew(validation);
}

void ddp_step_line_pause(int64_t ns, int64_t communication_ns)
{
    run.progress.last.now_ns += ns;
    run.progress.last.communication_ns += communication_ns;
    run.progress.last.loading_ns += ns - communication_ns;
}

void ddp_step_line_saved(int64_t ns)
{
    run.progress.last.loading_ns += ns;
}

int ddp_step_line_print_end(const char *begin, const char *how)
{
    const ddp_progress *p = &run.progress;
    char spent[32], all[32] = "";

    if (run.steps == 0)
        return 0;
    ddp_duration((double)(p->last.now_ns - p->started_ns) / 1e9, spent, sizeof spent);
    if (p->last.last_step > 0)
        (void)snprintf(all, sizeof all, " of %zu", p->last.last_step);
    printf("%s%s batch %zu%s\n", begin, how, p->last.step, all);
    printf("%s%zu images%s; %zu step%s in %s, average loss %.4f\n", begin, p->last.images,
           p->last.step > run.steps ? " in all" : "", run.steps, ddp_plural(run.steps), spent,
           run.figures.average_loss);
    return 1;
}
