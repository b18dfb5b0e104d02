#include "check/data.h"

#include "base/path.h"
#include "check/label.h"
#include "check/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int ddp_side_bins[DDP_SIDE_BINS] = {160, 320, 640, 1280, 2560, 0};
const double ddp_box_bins[DDP_BOX_BINS] = {.02, .05, .1, .2, .5, 1};

struct looking {
    ddp_faults *f;
    ddp_tally *t;
    uint64_t *by_class;
    const ddp_check_config *config;
    uint32_t key;    /* key of the picture's next box */
    float shares[2]; /* shares of the network's input that the picture takes */
};

static void count_side(ddp_tally *t, int width, int height)
{
    int side = width > height ? width : height;
    int bin = 0;

    while (bin + 1 < DDP_SIDE_BINS && side > ddp_side_bins[bin])
        bin++;
    t->sides[bin]++;
}

/* Return the IoU of two boxes with the same middle. */
static double overlap(double w, double h, double w2, double h2)
{
    double both = fmin(w, w2) * fmin(h, h2);

    return both / (w * h + w2 * h2 - both);
}

static double best_overlap(const ddp_check_config *c, double w, double h)
{
    double best = 0;

    for (int i = 0; i < c->anchor_count; i++)
        best = fmax(best, overlap(w, h, (double)c->anchors[2 * i], (double)c->anchors[2 * i + 1]));
    return best;
}

static int is_of_level(uint32_t key, uint32_t level)
{
    return (key & ((UINT32_C(1) << level) - 1)) == 0;
}

/* Keep only boxes with a key of this level. */
static void raise_level(ddp_box_sample *s, uint32_t level)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        if (!is_of_level(s->keys[i], level))
            continue;
        s->keys[kept] = s->keys[i];
        s->sizes[2 * kept] = s->sizes[2 * i];
        s->sizes[2 * kept + 1] = s->sizes[2 * i + 1];
        kept++;
    }
    s->count = kept;
    s->level = level;
}

void ddp_box_sample_add(ddp_box_sample *s, uint32_t key, float width, float height)
{
    while (is_of_level(key, s->level) && s->count == DDP_BOX_SAMPLE && s->level < 31)
        raise_level(s, s->level + 1);
    if (s->count == DDP_BOX_SAMPLE || !is_of_level(key, s->level))
        return;
    s->keys[s->count] = key;
    s->sizes[2 * s->count] = width;
    s->sizes[2 * s->count + 1] = height;
    s->count++;
}

/* Hash a path: FNV-1a. next_key mixes the lowest bits. */
static uint32_t key_of(const char *picture)
{
    uint32_t key = UINT32_C(2166136261);

    for (; *picture; picture++)
        key = (key ^ (unsigned char)*picture) * UINT32_C(16777619);
    return key;
}

static uint32_t next_key(uint32_t *key)
{
    uint32_t k = *key += UINT32_C(0x9E3779B9);

    k = (k ^ k >> 16) * UINT32_C(0x85EBCA6B);
    k = (k ^ k >> 13) * UINT32_C(0xC2B2AE35);
    return k ^ k >> 16;
}

/* Return 1 if a box reaches beyond the edge by more than rounding makes of a box there. x and y are
 * its middle. */
static int is_beyond(const ddp_label_box *b)
{
    const double some = .02;
    double x = (double)b->x, y = (double)b->y, w = (double)b->w / 2, h = (double)b->h / 2;

    return x - w < -some || x + w > 1 + some || y - h < -some || y + h > 1 + some;
}

static void count_box(void *ctx, const ddp_label_box *box)
{
    struct looking *l = ctx;
    double w = (double)box->w, h = (double)box->h;
    float in_w = box->w * l->shares[0], in_h = box->h * l->shares[1];
    int bin = 0;

    while (bin + 1 < DDP_BOX_BINS && sqrt(w * h) > ddp_box_bins[bin])
        bin++;
    l->t->sizes[bin]++;
    l->t->boxes++;
    l->t->beyond += (uint64_t)is_beyond(box);
    if (box->class_id < l->config->classes)
        l->by_class[box->class_id]++;
    if (l->config->sample)
        ddp_box_sample_add(l->config->sample, next_key(&l->key), in_w, in_h);
    if (!l->config->anchors)
        return;
    l->t->anchored++;
    l->t->anchor_iou += best_overlap(l->config, (double)in_w, (double)in_h);
}

static void look_at_label(struct looking *l, const char *picture, int width, int height)
{
    ddp_label_rules rules = {.classes = l->config->classes,
                             .most = l->config->most_boxes,
                             .width = width,
                             .height = height,
                             .missing_is_error = l->config->missing_is_error};
    char path[DDP_PATH_BYTES], second[DDP_PATH_BYTES];
    ddp_label_file kind;

    l->config->label_path(picture, path);
    l->shares[0] = l->shares[1] = 1;
    if (l->config->shares)
        l->config->shares(width, height, l->config->input, l->shares);
    l->key = key_of(picture);
    if (l->config->second_label_path && l->config->second_label_path(picture, second)
        && l->t->with_two_labels++ == 0)
        ddp_fault_add(l->f, DDP_FAULT_WARNING, "label-two", picture, 0,
                      "has two label files that differ: %s is taken, %s is not; other pictures may "
                      "have two, also",
                      path, second);
    (void)ddp_check_label(l->f, path, &rules, &kind, count_box, l);
    l->t->without_labels += kind == DDP_LABEL_NONE;
    l->t->without_boxes += kind == DDP_LABEL_EMPTY;
}

/* Count a classifier's picture by its class, whose name stands in its path. */
static void look_at_name(struct looking *l, const char *picture, const char *place)
{
    const ddp_check_config *c = l->config;
    const char *file = ddp_path_name(picture);
    int found = -1, in_file = 0, in_folders = 0;

    for (int i = 0; i < c->classes; i++) {
        if (!strstr(picture, c->names[i]))
            continue;
        if (strstr(file, c->names[i])) {
            found = i;
            in_file++;
        } else {
            in_folders++;
            found = in_file ? found : i;
        }
    }
    if (in_file + in_folders == 0)
        ddp_fault_add(l->f, DDP_FAULT_ERROR, "class-none", picture, 0,
                      "no class has a name that stands in this path (%s)", place);
    else if (in_file > 1 || (in_file == 0 && in_folders > 1))
        ddp_fault_add(l->f, DDP_FAULT_ERROR, "class-many", picture, 0,
                      "the names of %d classes stand in this path (%s)",
                      in_file ? in_file : in_folders, place);
    else {
        l->by_class[found]++;
        if (in_file && in_folders)
            ddp_fault_add(l->f, DDP_FAULT_WARNING, "class-folder", picture, 0,
                          "a folder's name holds another class than the file's, '%.60s' (%s)",
                          c->names[found], place);
    }
}

/* Decode the picture. Returns 1 if that succeeds. */
static int decode(struct looking *l, const char *picture, const char *place)
{
    char note[256];

    if (l->config->decode(picture, note, sizeof note)) {
        ddp_fault_add(l->f, DDP_FAULT_ERROR, "picture-broken", picture, 0,
                      "cannot be decoded: %s (%s)", note, place);
        return 0;
    }
    if (note[0])
        ddp_fault_add(l->f, DDP_FAULT_WARNING, "picture-warned", picture, 0,
                      "the decoder warns: %s (%s)", note, place);
    return 1;
}

static void look_at(struct looking *l, const char *picture, const char *place)
{
    ddp_picture_header size;
    int fit = ddp_check_picture(l->f, picture, place, l->config->exif, &size);

    l->t->pictures++;
    if (fit && l->config->decode)
        fit = decode(l, picture, place);
    if (fit)
        count_side(l->t, size.width, size.height);
    l->t->turned += (uint64_t)size.turned;
    if (l->config->names)
        look_at_name(l, picture, place);
    else if (l->config->label_path)
        look_at_label(l, picture, size.width, size.height);
}

void ddp_check_pictures(ddp_faults *f, ddp_tally *t, uint64_t *by_class,
                        const ddp_check_config *config, const ddp_list_lines *list)
{
    struct looking l = {.f = f, .t = t, .by_class = by_class, .config = config};
    char place[DDP_PATH_BYTES];

    for (size_t i = 0; i < list->count; i++) {
        (void)snprintf(place, sizeof place, "%s:%zu", list->file, list->numbers[i]);
        look_at(&l, list->all[i], place);
    }
}

void ddp_tally_add(ddp_tally *t, const ddp_tally *more)
{
    t->pictures += more->pictures;
    t->turned += more->turned;
    t->with_two_labels += more->with_two_labels;
    t->without_labels += more->without_labels;
    t->without_boxes += more->without_boxes;
    t->boxes += more->boxes;
    t->beyond += more->beyond;
    t->anchored += more->anchored;
    t->anchor_iou += more->anchor_iou;
    for (int i = 0; i < DDP_SIDE_BINS; i++)
        t->sides[i] += more->sides[i];
    for (int i = 0; i < DDP_BOX_BINS; i++)
        t->sizes[i] += more->sizes[i];
}
