#include "import/annotations.h"

#include <stdlib.h>
#include <string.h>

static const struct kind {
    const char *word;
    int choice;
    const char *done, *meaning;
} kinds[] = {
#define ODDITY(ID, word, choice, done, meaning) {word, choice, done, meaning},
#include "import/oddities.def"
};

void ddp_annotations_release(ddp_annotations *a)
{
    for (size_t i = 0; i < a->class_count; i++)
        free(a->classes[i]);
    for (size_t i = 0; i < a->picture_count; i++) {
        free(a->pictures[i].path);
        free(a->pictures[i].named);
    }
    for (size_t i = 0; i < a->source_count; i++)
        free(a->sources[i]);
    for (int kind = 0; kind < DDP_ODDITIES; kind++)
        for (int i = 0; i < DDP_ODD_EXAMPLES; i++)
            free(a->examples[kind][i]);
    free(a->classes);
    free(a->pictures);
    free(a->boxes);
    free(a->sources);
    *a = (ddp_annotations){0};
}

/* Make room for one more element. Returns 0, and sets lost, if there is no memory. */
static int grow(ddp_annotations *a, void **array, size_t count, size_t *room, size_t size)
{
    size_t more = *room ? 2 * *room : 64;
    void *grown;

    if (count < *room)
        return 1;
    grown = reallocarray(*array, more, size);
    if (!grown) {
        a->lost = 1;
        return 0;
    }
    *array = grown;
    *room = more;
    return 1;
}

int ddp_annotations_add_class(ddp_annotations *a, const char *name, const char *where)
{
    char **grown;

    for (size_t i = 0; i < a->class_count; i++)
        if (strcmp(a->classes[i], name) == 0)
            return (int)i;
    if (a->is_closed) {
        ddp_annotations_add_odd(a, DDP_ODD_CLASS, where);
        return -1;
    }
    grown = reallocarray(a->classes, a->class_count + 1, sizeof *grown);
    if (grown)
        a->classes = grown;
    if (!grown || !(grown[a->class_count] = strdup(name))) {
        a->lost = 1;
        return -1;
    }
    return (int)a->class_count++;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

void ddp_annotations_sort_classes(ddp_annotations *a)
{
    char **sorted;

    if (a->is_closed || a->class_count == 0)
        return;
    sorted = malloc(a->class_count * sizeof *sorted);
    if (!sorted) {
        a->lost = 1;
        return;
    }
    memcpy(sorted, a->classes, a->class_count * sizeof *sorted);
    qsort(sorted, a->class_count, sizeof *sorted, by_name);
    for (size_t i = 0; i < a->box_count; i++) {
        char *const *at = bsearch(&a->classes[a->boxes[i].class_id], sorted, a->class_count,
                                  sizeof *sorted, by_name);

        a->boxes[i].class_id = (int)(at - sorted);
    }
    free(a->classes);
    a->classes = sorted;
}

size_t ddp_annotations_add_picture(ddp_annotations *a, char *path, const char *named, ddp_side side)
{
    ddp_annotated_picture p = {.path = path, .named = strdup(named), .side = side};

    if (!p.named
        || !grow(a, (void **)&a->pictures, a->picture_count, &a->picture_room,
                 sizeof *a->pictures)) {
        a->lost = 1;
        free(p.named);
        free(path);
        return a->picture_count;
    }
    if (!path)
        ddp_annotations_add_odd(a, DDP_ODD_MISSING, named);
    a->pictures[a->picture_count] = p;
    return a->picture_count++;
}

size_t ddp_annotations_add_source(ddp_annotations *a, const char *path)
{
    char *whole = realpath(path, NULL);

    if (!whole
        || !grow(a, (void **)&a->sources, a->source_count, &a->source_room, sizeof *a->sources)) {
        a->lost = 1;
        free(whole);
        return a->source_count;
    }
    a->sources[a->source_count] = whole;
    return a->source_count++;
}

void ddp_annotations_add_box(ddp_annotations *a, const ddp_annotated_box *box)
{
    if (box->picture < a->picture_count
        && grow(a, (void **)&a->boxes, a->box_count, &a->box_room, sizeof *a->boxes))
        a->boxes[a->box_count++] = *box;
}

void ddp_annotations_add_odd(ddp_annotations *a, ddp_oddity kind, const char *where)
{
    size_t count = a->odd[kind]++;

    if (count < DDP_ODD_EXAMPLES && !(a->examples[kind][count] = strdup(where)))
        a->lost = 1;
}

ddp_oddity ddp_oddity_find(const char *word)
{
    int kind = 0;

    while (kind < DDP_ODDITIES && strcmp(kinds[kind].word, word) != 0)
        kind++;
    return (ddp_oddity)kind;
}

int ddp_oddity_is_choice(ddp_oddity kind)
{
    return kinds[kind].choice;
}

void ddp_annotations_print_odd(FILE *out, const ddp_annotations *a, unsigned left)
{
    for (int kind = 0; kind < DDP_ODDITIES; kind++) {
        if (a->odd[kind] == 0)
            continue;
        (void)fprintf(out, "%-11s%7zu %s: %s (", kinds[kind].word, a->odd[kind],
                      kinds[kind].meaning, left >> kind & 1U ? "left out" : kinds[kind].done);
        for (int i = 0; i < DDP_ODD_EXAMPLES && a->examples[kind][i]; i++)
            (void)fprintf(out, "%s%s", i ? ", " : "", a->examples[kind][i]);
        (void)fprintf(out, "%s)\n", a->odd[kind] > DDP_ODD_EXAMPLES ? ", ..." : "");
    }
}
