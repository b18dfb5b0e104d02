#include "import/picture_names.h"

#include "import/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct naming {
    const ddp_annotations *a;
    char **names;  /* of each picture; NULL: it is left out */
    size_t *order; /* indices of the others, sorted by the stems of their names */
    size_t count;
};

size_t ddp_picture_stem(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

/* Names of the pictures, for the sort that is under way. */
static char *const *sorted_names;

static int by_stem(const void *x, const void *y)
{
    const char *a = sorted_names[*(const size_t *)x], *b = sorted_names[*(const size_t *)y];
    size_t a_size = ddp_picture_stem(a), b_size = ddp_picture_stem(b);
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);

    return order ? order : (a_size > b_size) - (a_size < b_size);
}

/* By stem; pictures of one stem in the order of the source. */
static int by_stem_and_index(const void *x, const void *y)
{
    size_t a = *(const size_t *)x, b = *(const size_t *)y;
    int order = by_stem(x, y);

    return order ? order : (a > b) - (a < b);
}

static void sort_by_stem(struct naming *n)
{
    sorted_names = n->names;
    qsort(n->order, n->count, sizeof *n->order, by_stem_and_index);
}

/* Return where the pictures end whose names have the stem of the one at `first`. */
static size_t end_of_stem(const struct naming *n, size_t first)
{
    size_t end = first + 1;

    while (end < n->count && by_stem(&n->order[first], &n->order[end]) == 0)
        end++;
    return end;
}

/* "train/images/1.jpg" becomes "train_images_1.jpg". */
static char *whole_name(const char *path)
{
    char *name = strdup(path + strspn(path, "./"));

    for (char *c = name; c && *c; c++)
        if (*c == '/')
            *c = '_';
    return name;
}

/* "1.png" becomes "1_2.png". */
static char *numbered_name(const char *name, size_t number)
{
    size_t size = strlen(name) + 24;
    char *out = malloc(size);

    if (out)
        (void)snprintf(out, size, "%.*s_%zu%s", (int)ddp_picture_stem(name), name, number,
                       name + ddp_picture_stem(name));
    return out;
}

static int rename_picture(struct naming *n, size_t i, char *name)
{
    if (!name)
        return 0;
    free(n->names[i]);
    n->names[i] = name;
    return 1;
}

/* Give pictures whose names have one stem the names of their folders, too. */
static int name_by_folders(struct naming *n)
{
    sort_by_stem(n);
    for (size_t first = 0, end; first < n->count; first = end) {
        end = end_of_stem(n, first);
        for (size_t k = first; end - first > 1 && k < end; k++) {
            const size_t i = n->order[k];

            if (!rename_picture(n, i, whole_name(n->a->pictures[i].path)))
                return 0;
        }
    }
    return 1;
}

/* Number pictures whose names have one stem: 1.jpg and 1.png of one folder. Return how many got a
 * new name, -1 without memory. */
static long number_once(struct naming *n)
{
    long count = 0;

    sort_by_stem(n);
    for (size_t first = 0, end; first < n->count; first = end) {
        end = end_of_stem(n, first);
        for (size_t k = first + 1; k < end; k++, count++) {
            const size_t i = n->order[k];

            if (!rename_picture(n, i, numbered_name(n->names[i], k - first + 1)))
                return -1;
        }
    }
    return count;
}

/* A new name may be another picture's, so this ends when none has changed. */
static int number_others(struct naming *n)
{
    long count;

    do
        count = number_once(n);
    while (count > 0);
    return count == 0;
}

char **ddp_picture_names(const ddp_annotations *a)
{
    struct naming n = {.a = a};
    int is_done;

    n.names = calloc(a->picture_count + 1, sizeof *n.names);
    n.order = malloc((a->picture_count + 1) * sizeof *n.order);
    is_done = n.names && n.order;
    for (size_t i = 0; is_done && i < a->picture_count; i++)
        if (a->pictures[i].path) {
            n.order[n.count++] = i;
            is_done = rename_picture(&n, i, strdup(ddp_folder_last(a->pictures[i].path)));
        }
    is_done = is_done && name_by_folders(&n) && number_others(&n);
    free(n.order);
    if (is_done)
        return n.names;
    ddp_picture_names_free(n.names, a);
    return NULL;
}

void ddp_picture_names_free(char **names, const ddp_annotations *a)
{
    for (size_t i = 0; names && i < a->picture_count; i++)
        free(names[i]);
    free(names);
}
