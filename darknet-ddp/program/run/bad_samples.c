#include "run/bad_samples.h"

#include "comm/collectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes for the sentences of one rank. */
enum { TEXT = 8192 };

/* Is line, of this length, one of those that were printed before? */
static int is_known(const char *all, const char *line, size_t length)
{
    for (const char *before = all; before < line;) {
        size_t its = strcspn(before, "\n");

        if (its == length && memcmp(before, line, length) == 0)
            return 1;
        before += its;
        while (before < line
               && (*before == '\n' || *before == '\0')) /* of a rank's text, the rest is zero */
            before++;
    }
    return 0;
}

static void print_new(const char *all, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");

        if (!is_known(all, text, length))
            printf("DDP:   %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

ddp_status ddp_bad_samples_print(ddp_group *group, ddp_bad_samples *mine, ddp_error *err)
{
    size_t size = (size_t)ddp_group_size(group);
    char *text = calloc(TEXT, 1), *all = calloc(size, TEXT);
    ddp_status st;

    if (text && all) {
        (void)ddp_bad_samples_describe(mine, text, TEXT);
        st = ddp_allgather(group, text, all, TEXT, err);
    } else {
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for what %zu ranks could not read", size);
    }
    for (size_t r = 0; r < size && !st && ddp_group_rank(group) == 0; r++)
        print_new(all, all + r * TEXT);
    free(text);
    free(all);
    return st;
}
