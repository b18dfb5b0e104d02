#include "check/cfg_end.h"

#include <stdio.h>
#include <string.h>

/* Classes that `darknet classifier` assumes without classes=. */
enum { CLASSES = 2 };

static int is_one_of(const char *title, const char *const *titles)
{
    for (; *titles; titles++)
        if (strcmp(title, *titles) == 0)
            return 1;
    return 0;
}

/* Note the key that says how many values, or maps, the section gives. */
static void take_outputs(ddp_cfg_end *end, const ddp_cfg_section *s, const char *key)
{
    const ddp_cfg_line *line = ddp_cfg_find(s, key);

    end->outputs = ddp_cfg_whole(line, line ? 0 : 1);
    end->key = end->outputs > 0 ? key : NULL; /* else Darknet tells of the mistake */
    end->line = line ? line->number : s->title->number;
}

ddp_cfg_end ddp_cfg_end_of(const ddp_cfg_text *cfg)
{
    static const char *const heads[] = {"[yolo]", "[region]", "[detection]", NULL};
    static const char *const convolutions[] = {"[convolutional]", "[conv]", NULL};
    static const char *const connected[] = {"[connected]", "[conn]", NULL};
    static const char *const means[] = {"[avgpool]", "[avg]", NULL};
    static const char *const softmax[] = {"[softmax]", "[soft]", NULL};
    static const char *const losses[] = {"[cost]", "[logistic]", "[iseg]", NULL};
    static const char *const as_many[] = {"[cost]", "[dropout]", "[logistic]", "[activation]",
                                          NULL};
    ddp_cfg_end end = {0};
    ddp_cfg_section s;
    size_t at = 0;
    int maps = 0;     /* 1: the key counts maps, whose size is not known here */
    int one_cell = 0; /* 1: an average over all cells came before */

    while (ddp_cfg_next_section(cfg, &at, &s)) {
        const char *title = s.title ? s.title->key : "";

        end.last = s.title;
        if (is_one_of(title, heads) && !end.head)
            end.head = s.title;
        if (is_one_of(title, softmax))
            end.has_softmax = 1;
        if (end.head || end.has_softmax || is_one_of(title, losses))
            end.has_loss = 1;
        if (is_one_of(title, convolutions) || is_one_of(title, connected)) {
            maps = is_one_of(title, convolutions) && !one_cell;
            take_outputs(&end, &s, is_one_of(title, convolutions) ? "filters" : "output");
        } else if (is_one_of(title, means)) {
            maps = 0;
            one_cell = 1;
        } else if (!is_one_of(title, softmax) && !is_one_of(title, as_many)) {
            end.key = NULL;
            one_cell = 0;
        }
    }
    if (maps)
        end.key = NULL;
    return end;
}

int ddp_cfg_end_misfit(const ddp_cfg_end *end, const char *data_path, int classes,
                       char text[DDP_MISFIT_TEXT])
{
    int wanted = classes > 0 ? classes : CLASSES;

    if (end->head || !end->key || end->outputs == wanted)
        return 0;
    if (classes > 0)
        (void)snprintf(text, DDP_MISFIT_TEXT,
                       "%s=%d: as many values as that come out, and %.300s has classes=%d: %s=%d "
                       "is wanted",
                       end->key, end->outputs, data_path, classes, end->key, wanted);
    else
        (void)snprintf(text, DDP_MISFIT_TEXT,
                       "%s=%d: as many values as that come out, and %.300s has no classes=, so %d "
                       "are wanted: give it classes=%d",
                       end->key, end->outputs, data_path, wanted, end->outputs);
    return 1;
}

int ddp_cfg_end_no_loss(const ddp_cfg_end *end, char text[DDP_MISFIT_TEXT])
{
    if (end->has_loss || !end->last)
        return 0;
    (void)snprintf(text, DDP_MISFIT_TEXT,
                   "%s is the last section, and none gives a loss: [softmax], [cost] or [logistic] "
                   "do",
                   end->last->key);
    return 1;
}
