#include "predict/run.h"

#include "base/clock.h"
#include "comm/collectives.h"
#include "predict/source.h"
#include "show/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the line that says how far it is ---- */

struct progress {
    int64_t began;      /* by the clock */
    const char *things; /* "pictures" or "frames" */
    size_t total;       /* number of them; 0: not known */
};

static void show_progress(const struct progress *line, size_t done)
{
    double speed = (double)done / ((double)(ddp_clock_ns() - line->began) / 1e9);
    char text[128];
    const ddp_line_segment segment = {NULL, text};

    if (line->total == 1 || done == 0 || !ddp_terminal_renews())
        return;
    if (line->total > 0)
        (void)snprintf(text, sizeof text, "%zu/%zu %s, %.1f a second, %.0f s left", done,
                       line->total, line->things, speed, (double)(line->total - done) / speed);
    else
        (void)snprintf(text, sizeof text, "%zu %s, %.1f a second", done, line->things, speed);
    ddp_terminal_show(&segment, 1);
}

/* ---- one prediction ---- */

static ddp_status tell_sinks(ddp_predict_run *run, ddp_prediction *p, int of_each_rank,
                             ddp_error *err)
{
    for (size_t i = 0; i < run->sink_count; i++) {
        ddp_sink *s = &run->sinks[i];

        if (s->is_of_each_rank == of_each_rank && s->take(s->ctx, p, err))
            return err->code;
    }
    return DDP_OK;
}

static void count(ddp_predict_run *run, const ddp_prediction *p)
{
    run->pictures++;
    run->boxes += p->count;
    run->forward_s += p->seconds;
    run->unreadable_count += p->why[0] != '\0';
}

/* ---- several ranks ---- */

/* Give rank 0 the prediction p of rank `from`; there p is filled in, and is to be released. */
static ddp_status transfer(ddp_predict_run *run, ddp_prediction *p, int from, ddp_error *err)
{
    int is_mine = ddp_group_rank(run->group) == from;
    ddp_prediction plain = {0};

    if (is_mine) {
        plain = *p;
        plain.found = NULL;
        plain.pixels = NULL;
    }
    if (ddp_transfer(run->group, &plain, sizeof plain, from, 0, err))
        return err->code;
    if (ddp_group_rank(run->group) == 0) {
        *p = plain;
        p->path = run->config->paths[p->number];
        p->found = calloc(p->count + 1, sizeof *p->found);
        if (!p->found)
            return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu boxes", p->count);
    }
    return ddp_transfer(run->group, is_mine || p->found ? p->found : NULL,
                        plain.count * sizeof *p->found, from, 0, err);
}

/* Tell the sinks of rank 0 what each rank has found in its picture of a round. left: how many
 * pictures this round and those behind it have. own: this rank's. */
static ddp_status gather(ddp_predict_run *run, ddp_prediction *own, size_t left, ddp_error *err)
{
    size_t ranks = (size_t)ddp_group_size(run->group);
    int rank = ddp_group_rank(run->group);

    for (size_t r = 0; r < ranks && r < left; r++) {
        ddp_prediction other = {0}, *p = r == (size_t)rank ? own : &other;
        ddp_status st = r == 0 ? DDP_OK : transfer(run, p, (int)r, err);

        if (!st && rank == 0) {
            count(run, p);
            st = tell_sinks(run, p, 0, err);
        }
        if (p == &other)
            ddp_prediction_release(&other);
        if (st)
            return st;
    }
    return DDP_OK;
}

/* ---- pictures ---- */

/* Add to p, a picture, what one more predictor finds in its pixels; `view` of the finds. */
static ddp_status look_again(ddp_predictor *predictor, ddp_prediction *p, uint32_t view,
                             ddp_error *err)
{
    size_t bytes = 3 * sizeof *p->pixels * (size_t)p->width * (size_t)p->height;
    float *copy = malloc(bytes);
    ddp_detection *grown;
    ddp_prediction more;

    if (!copy)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a picture");
    memcpy(copy, p->pixels, bytes);
    ddp_predictor_predict_planes(predictor, copy, p->width, p->height, &more);
    grown = realloc(p->found, (p->count + more.count + 1) * sizeof *grown);
    if (grown) {
        p->found = grown;
        for (size_t i = 0; i < more.count; i++) {
            p->found[p->count] = more.found[i];
            p->found[p->count++].picture += view;
        }
    }
    p->seconds += more.seconds;
    ddp_prediction_release(&more);
    return grown ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for boxes");
}

static ddp_status predict_next(ddp_predict_run *run, ddp_prediction *p, ddp_error *err)
{
    size_t views = (size_t)run->config->views;
    ddp_status st = DDP_OK;

    if (!ddp_predictor_next(run->predictors[0], p) || p->why[0])
        return st;
    for (size_t i = 1; i < run->predictor_count && !st; i++)
        st = look_again(run->predictors[i], p, (uint32_t)(views / run->predictor_count * i), err);
    return st;
}

static ddp_status take(ddp_predict_run *run, ddp_prediction *p, ddp_error *err)
{
    if (p->why[0])
        run->unreadable(p->why);
    return tell_sinks(run, p, 1, err);
}

/* Predict the pictures first..end - 1 of the list. */
static ddp_status run_pictures(ddp_predict_run *run, size_t first, size_t end, ddp_error *err)
{
    const struct progress line = {ddp_clock_ns(), "pictures", end - first};
    size_t ranks = (size_t)ddp_group_size(run->group), rank = (size_t)ddp_group_rank(run->group);
    size_t next = first + rank;
    ddp_status st = DDP_OK;

    for (size_t round = first; round < end && !st; round += ranks) {
        ddp_prediction own = {0};

        for (; next < end && ddp_predictor_has_room(run->predictors[0]); next += ranks)
            ddp_predictor_load(run->predictors[0], run->config->paths[next], next);
        st = predict_next(run, &own, err);
        if (!st && own.path)
            st = take(run, &own, err);
        if (!st)
            st = gather(run, &own, end - round, err);
        show_progress(&line, end - round < ranks ? end - first : round + ranks - first);
        ddp_prediction_release(&own);
    }
    return st;
}

/* ---- films ---- */

static ddp_status begin_film(ddp_predict_run *run, size_t number, const ddp_film_info *info,
                             ddp_error *err)
{
    for (size_t i = 0; i < run->sink_count; i++) {
        ddp_sink *s = &run->sinks[i];

        if (s->begin_film && s->begin_film(s->ctx, run->config->paths[number], number, info, err))
            return err->code;
    }
    return DDP_OK;
}

static ddp_status end_film(ddp_predict_run *run, ddp_error *err)
{
    for (size_t i = 0; i < run->sink_count; i++) {
        ddp_sink *s = &run->sinks[i];

        if (s->end_film && s->end_film(s->ctx, err))
            return err->code;
    }
    return DDP_OK;
}

static ddp_status run_frame(ddp_predict_run *run, const unsigned char *rgb,
                            const ddp_film_info *info, size_t film, size_t frame, ddp_error *err)
{
    ddp_prediction p;
    ddp_status st;

    ddp_predictor_predict_rgb(run->predictors[0], rgb, info->width, info->height, &p);
    p.path = run->config->paths[film];
    p.number = frame;
    p.is_frame = 1;
    count(run, &p);
    st = tell_sinks(run, &p, 0, err);
    if (!st)
        st = tell_sinks(run, &p, 1, err);
    ddp_prediction_release(&p);
    return st;
}

static ddp_status run_frames(ddp_predict_run *run, const ddp_film_functions *film,
                             ddp_film_reader *reader, const ddp_film_info *info, size_t number,
                             ddp_error *err)
{
    unsigned char *rgb = malloc((size_t)info->width * (size_t)info->height * 3);
    const struct progress line = {ddp_clock_ns(), "frames", info->frames};
    ddp_status st = rgb ? begin_film(run, number, info, err)
                        : ddp_fail(err, DDP_ERR_NOMEM, "no memory for a frame");
    int got = 1;

    for (size_t frame = 0; !st && got; frame++) {
        st = film->read(reader, rgb, &got, err);
        if (!st && got)
            st = run_frame(run, rgb, info, number, frame, err);
        show_progress(&line, frame);
    }
    free(rgb);
    return st ? st : end_film(run, err);
}

static ddp_status run_film(ddp_predict_run *run, size_t number, ddp_error *err)
{
    const ddp_film_functions *film;
    ddp_film_reader *reader;
    ddp_film_info info;
    ddp_status st;

    if (ddp_group_size(run->group) > 1)
        return ddp_fail(err, DDP_ERR_USAGE, "%s is a film, which one rank reads from end to end",
                        run->config->paths[number]);
    film = ddp_film_load(err);
    if (!film || film->open(&reader, run->config->paths[number], &info, err))
        return err->code;
    st = run_frames(run, film, reader, &info, number, err);
    film->close(reader);
    return st;
}

/* Return where the pictures that begin at `first` end: at a film, or at the list's end. */
static size_t end_of_pictures(const ddp_predict_run *run, size_t first)
{
    while (first < run->config->count && !ddp_source_is_film(run->config->paths[first]))
        first++;
    return first;
}

ddp_status ddp_predict_run_all(ddp_predict_run *run, ddp_error *err)
{
    ddp_status st = DDP_OK;

    for (size_t i = 0; i < run->config->count && !st;) {
        size_t end = end_of_pictures(run, i);

        st = end > i ? run_pictures(run, i, end, err) : run_film(run, i, err);
        i = end > i ? end : i + 1;
    }
    return st;
}

ddp_status ddp_predict_run_close(ddp_predict_run *run, ddp_error *err)
{
    ddp_status st = DDP_OK;

    for (size_t i = 0; i < run->sink_count; i++) {
        ddp_sink *s = &run->sinks[i];
        ddp_error later;

        if (s->close(s->ctx, st ? &later : err) && !st)
            st = err->code;
    }
    run->sink_count = 0;
    ddp_terminal_clear();
    return st;
}
