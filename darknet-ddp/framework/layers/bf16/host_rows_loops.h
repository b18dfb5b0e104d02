/* layers/bf16/host_rows_loops.h: the functions of a bf16_row_loops (host_rows.h).
 *
 * A file that includes this defines which instructions they use: LANES_BF16 of lanes.h, and
 * ROW_LOOP, the attributes of a function that has a loop. ROW_TABLE is the name of their table. */
#ifndef BF16_HOST_ROWS_LOOPS_H
#define BF16_HOST_ROWS_LOOPS_H
#include "layers/bf16/host_rows.h"
#include "layers/onednn/lanes.h"

enum { ROWS_AT_ONCE = 4 /* for which a channel's numbers are loaded once */ };

/* A part of a loop: `count` channels from c on of `rows` rows. It is compiled for each number of
 * rows, and for whole vectors of channels. */
typedef void row_part(const bf16_rows *r, size_t row, int rows, size_t c, int count);

LANES_INLINE void for_channels(const bf16_rows *r, size_t row, int rows, row_part *part)
{
    size_t c = 0;

    for (; c + LANES_COUNT <= r->channels; c += LANES_COUNT)
        part(r, row, rows, c, LANES_COUNT);
    if (c < r->channels)
        part(r, row, rows, c, (int)(r->channels - c));
}

LANES_INLINE void for_rows(const bf16_rows *rows, row_part *part)
{
    const bf16_rows r = *rows; /* which no store can change */
    size_t row = 0;

    for (; row + ROWS_AT_ONCE <= r.rows; row += ROWS_AT_ONCE)
        for_channels(&r, row, ROWS_AT_ONCE, part);
    for (; row < r.rows; ++row)
        for_channels(&r, row, 1, part);
}

/* Set *y to BatchNorm's output. distance: of x from the mean */
LANES_INLINE void normalize(const bf16_rows *r, const lanes *distance, size_t c, int count,
                            lanes *y)
{
    lanes scale, biases;

    lanes_load(r->scale + c, count, &scale);
    lanes_load(r->biases + c, count, &biases);
    *y = *distance * scale + biases;
}

LANES_INLINE void load_distance(const bf16_rows *r, size_t at, const lanes *mean, int count,
                                lanes *distance)
{
    lanes_load_halves(r->x + at, count, distance);
    *distance -= *mean;
}

/* ---- forward ---- */

LANES_INLINE void add_moments_part(const bf16_rows *r, size_t row, int rows, size_t c, int count)
{
    lanes from, sum, squares;

    lanes_load(r->mean + c, count, &from);
    lanes_load(r->sum + c, count, &sum);
    lanes_load(r->products + c, count, &squares);
    for (int i = 0; i < rows; ++i) {
        lanes distance;

        load_distance(r, (row + (size_t)i) * r->channels + c, &from, count, &distance);
        sum += distance;
        squares += distance * distance;
    }
    lanes_store(&sum, count, r->sum + c);
    lanes_store(&squares, count, r->products + c);
}

ROW_LOOP static void add_moments(const bf16_rows *r)
{
    for_rows(r, add_moments_part);
}

/* Return where the other layer of a [shortcut] has the values that channels from c on of a row
 * meet; -1: they meet none. */
LANES_INLINE long place_of(const bf16_rows *r, size_t row, size_t c)
{
    const long place = r->places ? r->places[row] : (long)(row * r->channels);

    return place >= 0 && c < r->met_channels ? place + (long)c : -1;
}

/* Round y as memory would, and add what the [shortcut] adds. */
LANES_INLINE void add_other(const bf16_rows *r, long place, int count, lanes *y)
{
    half_lanes rounded;
    lanes other;

    lanes_round(y, &rounded);
    lanes_of_halves(&rounded, y);
    if (place >= 0) {
        lanes_load_halves(r->other + place, count, &other);
        *y = r->alpha * *y + r->beta * other;
    }
    lanes_slope(y, r->shortcut_slope, y);
}

LANES_INLINE void normalize_part(const bf16_rows *r, size_t row, int rows, size_t c, int count)
{
    lanes mean;

    lanes_load(r->mean + c, count, &mean);
    for (int i = 0; i < rows; ++i) {
        const size_t at = (row + (size_t)i) * r->channels + c;
        lanes distance, y;

        load_distance(r, at, &mean, count, &distance);
        normalize(r, &distance, c, count, &y);
        lanes_slope(&y, r->slope, &y);
        if (r->other)
            add_other(r, place_of(r, row + (size_t)i, c), count, &y);
        lanes_store_halves(&y, count, r->y + at);
    }
}

ROW_LOOP static void normalize_rows(const bf16_rows *r)
{
    for_rows(r, normalize_part);
}

/* ---- backward ---- */

/* Set *shortcut to the gradient of the [shortcut]'s sum, and *d to that of BatchNorm's output. */
LANES_INLINE void load_delta(const bf16_rows *r, size_t at, const lanes *distance, size_t c,
                             int count, lanes *shortcut, lanes *d)
{
    lanes y;

    lanes_load_halves(r->delta + at, count, shortcut);
    if (r->output) {
        lanes_load_halves(r->output + at, count, &y);
        lanes_slope(&y, r->shortcut_slope, shortcut);
    }
    *d = r->alpha * *shortcut;
    if (r->slope != 1) {
        normalize(r, distance, c, count, &y);
        lanes_slope(&y, r->slope, d);
    }
}

LANES_INLINE void give_other(const bf16_rows *r, long place, const lanes *shortcut, int count)
{
    lanes given = r->beta * *shortcut, there;

    if (place < 0)
        return;
    if (!r->set_other) {
        lanes_load_halves(r->other_delta + place, count, &there);
        given += there;
    }
    lanes_store_halves(&given, count, r->other_delta + place);
}

LANES_INLINE void sum_deltas_part(const bf16_rows *r, size_t row, int rows, size_t c, int count)
{
    lanes mean, sum, products;

    lanes_load(r->mean + c, count, &mean);
    lanes_load(r->sum + c, count, &sum);
    lanes_load(r->products + c, count, &products);
    for (int i = 0; i < rows; ++i) {
        const size_t at = (row + (size_t)i) * r->channels + c;
        lanes distance, shortcut, d;

        load_distance(r, at, &mean, count, &distance);
        load_delta(r, at, &distance, c, count, &shortcut, &d);
        if (r->other_delta)
            give_other(r, place_of(r, row + (size_t)i, c), &shortcut, count);
        sum += d;
        products += d * distance;
    }
    lanes_store(&sum, count, r->sum + c);
    lanes_store(&products, count, r->products + c);
}

ROW_LOOP static void sum_deltas(const bf16_rows *r)
{
    for_rows(r, sum_deltas_part);
}

LANES_INLINE void finish_deltas_part(const bf16_rows *r, size_t row, int rows, size_t c, int count)
{
    lanes mean, scale, mean_delta, variance_delta;

    lanes_load(r->mean + c, count, &mean);
    lanes_load(r->scale + c, count, &scale);
    lanes_load(r->mean_delta + c, count, &mean_delta);
    lanes_load(r->variance_delta + c, count, &variance_delta);
    for (int i = 0; i < rows; ++i) {
        const size_t at = (row + (size_t)i) * r->channels + c;
        lanes distance, shortcut, d;

        load_distance(r, at, &mean, count, &distance);
        load_delta(r, at, &distance, c, count, &shortcut, &d);
        d = scale * (d + variance_delta * distance + mean_delta);
        lanes_store_halves(&d, count, r->x_delta + at);
    }
}

ROW_LOOP static void finish_deltas(const bf16_rows *r)
{
    for_rows(r, finish_deltas_part);
}

const bf16_row_loops ROW_TABLE = {
    .add_moments = add_moments,
    .normalize = normalize_rows,
    .sum_deltas = sum_deltas,
    .finish_deltas = finish_deltas,
};

#endif
