#include "samples/truth_labels.h"

#include <stdlib.h>
#include <string.h>

/* The truths of one sample. */
struct slot {
    size_t sample;
    ddp_label_id *truths;
    int count, room; /* truths, and for how many there is memory */
};

struct listed {
    const char *path;
    uint32_t picture;
};

struct ddp_truth_labels {
    struct slot *slots; /* a sample's is that of its number modulo slot_count */
    size_t slot_count;
    struct listed *list; /* by path; the same path has the same number */
    size_t list_count;
};

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct listed *)a)->path, ((const struct listed *)b)->path);
}

static int by_path_and_picture(const void *a, const void *b)
{
    uint32_t x = ((const struct listed *)a)->picture, y = ((const struct listed *)b)->picture;
    int order = by_path(a, b);

    return order ? order : (x > y) - (x < y);
}

ddp_status ddp_truth_labels_open(ddp_truth_labels **out, size_t samples, char *const *paths,
                                 size_t count, ddp_error *err)
{
    ddp_truth_labels *t = calloc(1, sizeof *t);

    *out = NULL;
    if (t) {
        t->slots = calloc(samples, sizeof *t->slots);
        t->list = calloc(count + 1, sizeof *t->list);
    }
    if (!t || !t->slots || !t->list) {
        ddp_truth_labels_close(t);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the labels of %zu samples", samples);
    }
    t->slot_count = samples;
    t->list_count = count;
    for (size_t i = 0; i < count; i++)
        t->list[i] = (struct listed){paths[i], (uint32_t)i};
    qsort(t->list, count, sizeof *t->list, by_path_and_picture);
    for (size_t i = 1; i < count; i++)
        if (by_path(&t->list[i - 1], &t->list[i]) == 0)
            t->list[i].picture = t->list[i - 1].picture;
    *out = t;
    return DDP_OK;
}

void ddp_truth_labels_close(ddp_truth_labels *t)
{
    if (!t)
        return;
    for (size_t i = 0; t->slots && i < t->slot_count; i++)
        free(t->slots[i].truths);
    free(t->slots);
    free(t->list);
    free(t);
}

/* Make room for truth n. Returns 0 if there is no memory. */
static int has_room(struct slot *s, int n)
{
    int room = 2 * n + 16;
    ddp_label_id *grown;

    if (n < s->room)
        return 1;
    grown = realloc(s->truths, (size_t)room * sizeof *grown);
    if (!grown)
        return 0;
    s->truths = grown;
    s->room = room;
    return 1;
}

size_t ddp_truth_labels_find_picture(const ddp_truth_labels *t, const char *path)
{
    const struct listed key = {.path = path};
    const struct listed *found = bsearch(&key, t->list, t->list_count, sizeof *t->list, by_path);

    return found ? found->picture : SIZE_MAX;
}

void ddp_truth_labels_set(ddp_truth_labels *t, size_t sample, int n, const char *path, int line)
{
    struct slot *s = &t->slots[sample % t->slot_count];
    size_t picture = ddp_truth_labels_find_picture(t, path);

    if (n == 0) {
        s->sample = sample;
        s->count = 0;
    }
    if (picture == SIZE_MAX || s->count != n || !has_room(s, n))
        return;
    s->truths[s->count++] = (ddp_label_id){(uint32_t)picture, (uint32_t)line};
}

int ddp_truth_labels_find(const ddp_truth_labels *t, size_t sample, int n, ddp_label_id *label)
{
    const struct slot *s = &t->slots[sample % t->slot_count];

    if (s->sample != sample || n >= s->count)
        return 0;
    *label = s->truths[n];
    return 1;
}
