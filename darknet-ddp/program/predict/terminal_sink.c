/* The sink that prints predictions as lines on standard output. */
#include "predict/sinks.h"

#include <stdio.h>
#include <stdlib.h>

struct terminal {
    const ddp_sink_config *config;
};

static int round_to_pixel(double x)
{
    return (int)(x + (x < 0 ? -0.5 : 0.5));
}

static void print_box(const struct terminal *t, const ddp_prediction *p, const ddp_detection *d)
{
    printf("%s: %.0f%%", t->config->names[d->class_id], 100 * d->score);
    if (t->config->ext_output)
        printf("\t(left_x: %4d   top_y: %4d   width: %4d   height: %4d)",
               round_to_pixel(d->box.left * p->width), round_to_pixel(d->box.top * p->height),
               round_to_pixel(d->box.width * p->width), round_to_pixel(d->box.height * p->height));
    (void)putchar('\n');
}

static void print_nothing(const struct terminal *t, const ddp_prediction *p)
{
    printf("nothing above %g%%; ", 100 * (double)t->config->thresh);
    if (p->best.score > 0)
        printf("best: %s %.3g%%; -thresh %.3g shows it\n", t->config->names[p->best.class_id],
               100 * p->best.score, p->best_threshold);
    else
        printf("and no box at all\n");
}

static void print_detector(const struct terminal *t, const ddp_prediction *p)
{
    char frame[40] = "";

    if (p->is_frame)
        (void)snprintf(frame, sizeof frame, " frame %zu", p->number + 1);
    printf("%s%s: Predicted in %f seconds.\n", p->path, frame, p->seconds);
    if (p->not_finite > 0)
        printf("%zu box%s not finite: the weights give numbers that are too large\n", p->not_finite,
               p->not_finite == 1 ? " is" : "es are");
    if (p->count == 0 && !p->is_frame)
        print_nothing(t, p);
    for (size_t i = 0; i < p->count; i++)
        print_box(t, p, &p->found[i]);
}

static void print_classifier(const struct terminal *t, const ddp_prediction *p)
{
    (void)fprintf(stderr, "%s: Predicted in %f seconds.\n", p->path, p->seconds);
    if (t->config->count > 1)
        printf("%s:\n", p->path);
    for (size_t i = 0; i < p->count; i++)
        printf("%5.2f%%: %s\n", 100 * p->found[i].score, t->config->names[p->found[i].class_id]);
}

static ddp_status take(void *ctx, ddp_prediction *p, ddp_error *err)
{
    const struct terminal *t = ctx;

    (void)err;
    if (p->why[0])
        return DDP_OK;
    if (t->config->is_classifier)
        print_classifier(t, p);
    else
        print_detector(t, p);
    return DDP_OK;
}

static ddp_status close_terminal(void *ctx, ddp_error *err)
{
    (void)err;
    free(ctx);
    return DDP_OK;
}

ddp_status ddp_terminal_sink_open(ddp_sink *s, const ddp_sink_config *config, ddp_error *err)
{
    struct terminal *t = calloc(1, sizeof *t);

    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to print");
    t->config = config;
    *s = (ddp_sink){.ctx = t, .take = take, .close = close_terminal};
    return DDP_OK;
}
