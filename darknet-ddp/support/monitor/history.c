#include "monitor/history.h"

#include <math.h>
#include <stdlib.h>

struct cell {
    size_t count;
    double sum, least, greatest;
};

struct ddp_history {
    size_t columns, most;
    size_t points; /* points so far; the last one may be growing */
    size_t rows_a_point;
    size_t rows_in_last;
    double *x;          /* of each point */
    struct cell *cells; /* point by point, a cell for each column */
};

ddp_status ddp_history_open(ddp_history **out, size_t columns, size_t points, ddp_error *err)
{
    ddp_history *h;

    *out = NULL;
    if (points < 2 || points % 2)
        return ddp_fail(err, DDP_ERR_USAGE, "a history of %zu points", points);
    h = calloc(1, sizeof *h);
    if (h) {
        *h = (ddp_history){.columns = columns, .most = points, .rows_a_point = 1};
        h->x = calloc(points, sizeof *h->x);
        h->cells = calloc(points * columns + 1, sizeof *h->cells);
    }
    if (!h || !h->x || !h->cells) {
        ddp_history_close(h);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu points of %zu columns", points,
                        columns);
    }
    *out = h;
    return DDP_OK;
}

void ddp_history_close(ddp_history *h)
{
    if (!h)
        return;
    free(h->x);
    free(h->cells);
    free(h);
}

static void merge(struct cell *into, const struct cell *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0) {
        *into = *from;
        return;
    }
    into->count += from->count;
    into->sum += from->sum;
    into->least = fmin(into->least, from->least);
    into->greatest = fmax(into->greatest, from->greatest);
}

/* Make one point of each two neighbours. */
static void thin(ddp_history *h)
{
    for (size_t p = 0; p < h->points / 2; p++) {
        for (size_t c = 0; c < h->columns; c++) {
            struct cell both = h->cells[2 * p * h->columns + c];

            merge(&both, &h->cells[(2 * p + 1) * h->columns + c]);
            h->cells[p * h->columns + c] = both;
        }
        h->x[p] = h->x[2 * p + 1];
    }
    h->points /= 2;
    h->rows_a_point *= 2;
    h->rows_in_last = h->rows_a_point;
}

void ddp_history_add(ddp_history *h, double x, const double *values)
{
    struct cell *cells;

    if (h->points == h->most && h->rows_in_last == h->rows_a_point)
        thin(h);
    if (h->points == 0 || h->rows_in_last == h->rows_a_point) {
        cells = h->cells + h->points++ * h->columns;
        for (size_t c = 0; c < h->columns; c++)
            cells[c] = (struct cell){0};
        h->rows_in_last = 0;
    }
    cells = h->cells + (h->points - 1) * h->columns;
    h->rows_in_last++;
    h->x[h->points - 1] = x;
    for (size_t c = 0; c < h->columns; c++) {
        struct cell one = {.count = 1, .sum = values[c], .least = values[c], .greatest = values[c]};

        if (!isnan(values[c]))
            merge(&cells[c], &one);
    }
}

size_t ddp_history_points(const ddp_history *h)
{
    return h->points;
}

size_t ddp_history_rows_a_point(const ddp_history *h)
{
    return h->rows_a_point;
}

double ddp_history_x(const ddp_history *h, size_t point)
{
    return h->x[point];
}

ddp_history_value ddp_history_at(const ddp_history *h, size_t point, size_t column)
{
    const struct cell *cell = &h->cells[point * h->columns + column];

    if (cell->count == 0)
        return (ddp_history_value){0, NAN, NAN, NAN};
    return (ddp_history_value){cell->count, cell->sum / (double)cell->count, cell->least,
                               cell->greatest};
}
