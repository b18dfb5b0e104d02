#include "layers/cfg_ranges.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A value fits from `least` to `most`, without the ends that `open` names.
enum { LEAST = 1, MOST = 2 };

static const struct {
    LAYER_TYPE section;
    const char *keys;
    double least, most;
    int open;
    const char *must;
} ranges[] = {
    {NETWORK, "learning_rate learning_rate_min decay burn_in hue steps scales", 0, INFINITY, 0,
     "must not be negative"},
    {NETWORK, "momentum B1 B2", 0, 1, MOST, "must be from 0 to less than 1"},
    {NETWORK, "aspect saturation exposure", 0, INFINITY, LEAST, "must be more than 0"},
    {DETECTION, "jitter", 0, 1, MOST, "must be from 0 to less than 1"},
    {REGION, "jitter", 0, 1, MOST, "must be from 0 to less than 1"},
    {REGION, "thresh", 0, 1, 0, "must be from 0 to 1"},
    {REGION, "anchors", 0, INFINITY, LEAST, "must be more than 0, each of them"},
    {YOLO, "jitter label_smooth_eps", 0, 1, MOST, "must be from 0 to less than 1"},
    {YOLO, "ignore_thresh iou_thresh", 0, 1, 0, "must be from 0 to 1"},
    {YOLO, "anchors", 0, INFINITY, LEAST, "must be more than 0, each of them"},
    {YOLO, "scale_x_y", 0, INFINITY, LEAST, "must be more than 0"},
    {YOLO, "iou_normalizer cls_normalizer obj_normalizer delta_normalizer max_delta", 0, INFINITY,
     0, "must not be negative"},
};

static int fits(size_t range, double value)
{
    double least = ranges[range].least, most = ranges[range].most;
    if (ranges[range].open & LEAST ? value <= least : value < least)
        return 0;
    return ranges[range].open & MOST ? value < most : value <= most;
}

static int all_fit(size_t range, const char *values)
{
    char *end;
    double value = strtod(values, &end);
    while (end != values && fits(range, value)) {
        values = end + (*end == ',');
        value = strtod(values, &end);
    }
    return end == values;
}

const char *cfg_out_of_range(const cfg_section *s, const char *key, const char *value)
{
    size_t i;
    for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); ++i) {
        if (ranges[i].section == s->type && cfg_has_word(ranges[i].keys, key))
            return all_fit(i, value) ? 0 : ranges[i].must;
    }
    return 0;
}
