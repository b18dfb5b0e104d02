#include "check/lists.h"

#include "text/line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A line of a list, for sorting by its text. */
struct entry {
    const char *path;
    size_t number;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

void ddp_check_duplicates(ddp_faults *f, const ddp_list_lines *list)
{
    struct entry *entries = calloc(list->count + 1, sizeof *entries);

    if (!entries) {
        f->lost = 1;
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        entries[i] = (struct entry){list->all[i], list->numbers[i]};
    qsort(entries, list->count, sizeof *entries, compare_entries);
    for (size_t i = 1, first = 0; i < list->count; i++) {
        if (strcmp(entries[i].path, entries[first].path) != 0)
            first = i;
        else
            ddp_fault_add(f, DDP_FAULT_WARNING, "list-twice", list->file, (int)entries[i].number,
                          "%s stands in line %zu, too", entries[i].path, entries[first].number);
    }
    free(entries);
}

/* ---- a line's number ---- */

size_t ddp_list_line_number(const char *file, size_t i)
{
    struct stat info;
    FILE *in = stat(file, &info) == 0 && S_ISREG(info.st_mode) ? fopen(file, "r") : NULL;
    size_t number = 0, left = i + 1, size = 0;
    char *line = NULL;

    while (in && left > 0 && getline(&line, &size, in) >= 0) {
        number++;
        left -= (size_t)ddp_line_cut(line);
    }
    free(line);
    if (in)
        (void)fclose(in);
    return left > 0 ? i + 1 : number;
}

int ddp_ends_with_blank(const char *line)
{
    size_t bytes = strlen(line);

    return bytes > 0 && strchr(" \t", line[bytes - 1]) != NULL;
}

const char *ddp_path_oddity(const char *path)
{
    if (ddp_ends_with_blank(path))
        return " (the name ends with a blank)";
    if (strchr(path, '\\') && !strchr(path, '/'))
        return " (folders are divided by / here, and not by \\)";
    return "";
}
