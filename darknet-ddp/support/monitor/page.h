/* monitor/page.h: writes a web page about a run, in one file: curves, tables and pictures.
 *
 * The page holds its contents (ddp_page) as JSON, and its own script draws them. monitor/page.html
 * has all of the page but this JSON. */
#ifndef DDP_MONITOR_PAGE_H
#define DDP_MONITOR_PAGE_H

#include "monitor/history.h"

#include <stdio.h>

typedef struct ddp_page_pair {
    const char *name, *value;
} ddp_page_pair;

/* A curve in a chart: a column of the history, and the curve's name. */
typedef struct ddp_page_series {
    size_t column;
    const char *name;
} ddp_page_series;

enum { DDP_PAGE_SERIES = 8 }; /* most curves in a chart */

typedef struct ddp_page_chart {
    const char *title; /* the chart's title */
    const char *unit;  /* unit of the values; "": none */
    int stack;         /* 1: curves are areas, one on the other; `log` and `band` have no effect */
    int log;           /* 1: the scale is logarithmic, if all values are above 0 and span 20-fold */
    /* 1: a band is drawn around each curve, from the least to the greatest value of each point */
    int band;
    int zero; /* 1: the scale reaches down to 0, unless it is logarithmic */
    int one;  /* 1: for shares: scale from 0 to a little above them, 1 at most; not with `log` */
    ddp_page_series series[DDP_PAGE_SERIES];
    size_t series_count;
} ddp_page_chart;

typedef struct ddp_page_class {
    const char *name;
    double ap; /* average precision; NaN: not known */
    size_t truths;
} ddp_page_class;

/* A box in a picture. Its numbers are fractions of the picture's width and height. */
typedef struct ddp_page_box {
    double left, top, width, height;
    int found;        /* 1: a detection; 0: a label */
    const char *name; /* name of its class */
    double score;     /* score of a detection */
} ddp_page_box;

typedef struct ddp_page_picture {
    const char *caption;
    const char *mime; /* media type of the bytes: "image/jpeg" */
    const void *bytes;
    size_t count;
    const ddp_page_box *boxes;
    size_t box_count;
} ddp_page_picture;

/* The contents of the page. Strings are UTF-8 and may hold anything. */
typedef struct ddp_page {
    /* texts at the top: "yolov3-tiny", "step 100 of 500", a date */
    const char *title, *status, *written;
    const char *x_name; /* name of the history's x: "step" */
    const ddp_history *history;
    const ddp_page_chart *charts;
    size_t chart_count;
    /* pairs that the page shows above the charts (tiles), and in a table below them (facts) */
    const ddp_page_pair *tiles, *facts;
    size_t tile_count, fact_count;
    const ddp_page_class *classes;
    size_t class_count;
    /* [a * confusion_count + b]: how often class a was found as class b; NULL: no matrix */
    const double *confusion;
    const char *const *confusion_names;
    size_t confusion_count;
    const ddp_page_picture *pictures;
    size_t picture_count;
} ddp_page;

/* Write the page to out as HTML. All was written if ferror(out) is 0, and fclose succeeds. */
void ddp_page_write(FILE *out, const ddp_page *page);

#endif
