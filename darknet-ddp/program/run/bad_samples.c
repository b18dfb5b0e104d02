#include "run/bad_samples.h"

#include "comm/collectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Print the lines of a text, sorted, each once. Changes the text. */
static ddp_status print_lines(char *text, ddp_error *err)
{
    size_t count = 0;
    char **lines, *rest;

    for (const char *c = text; *c; c++)
        count += *c == '\n';
    lines = calloc(count + 1, sizeof *lines);
    if (!lines)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu lines", count);
    lines[0] = strtok_r(text, "\n", &rest);
    for (size_t i = 1; i < count; i++)
        lines[i] = strtok_r(NULL, "\n", &rest);
    qsort(lines, count, sizeof *lines, compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(lines[i - 1], lines[i]) != 0)
            printf("DDP:   %s\n", lines[i]);
    free(lines);
    return DDP_OK;
}

ddp_status ddp_bad_samples_print(ddp_group *group, ddp_bad_samples *mine, ddp_error *err)
{
    char *text = ddp_bad_samples_describe(mine);
    void *all = NULL;
    size_t bytes;
    ddp_status st;

    if (text)
        st = ddp_concatenate_on_first(group, text, strlen(text), &all, &bytes, err);
    else
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for what could not be read");
    if (!st && ddp_group_rank(group) == 0)
        st = print_lines(all, err);
    free(text);
    free(all);
    return st;
}
