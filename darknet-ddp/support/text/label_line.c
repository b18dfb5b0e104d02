#include "text/label_line.h"

#include "text/words.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5, SHOWN = 40 }; /* SHOWN: bytes of a word in a sentence */

__attribute__((format(printf, 4, 5))) static ddp_label_verdict
odd(ddp_label_line *out, ddp_label_verdict verdict, const char *kind, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(out->why, sizeof out->why, fmt, args);
    va_end(args);
    out->kind = kind;
    return verdict;
}

/* Split a line into words, at most one more than there should be. Returns how many. */
static int split(char *line, char **words)
{
    int n = 0;

    while (n <= COLUMNS && (words[n] = ddp_word_next(&line)))
        n++;
    return n;
}

static ddp_label_verdict read_class(ddp_label_line *out, const char *word, int classes)
{
    int value;

    if (!ddp_word_whole(word, &value))
        return odd(out, DDP_LABEL_WRONG, "label-class",
                   "'%.*s' is no number of a class: digits are", SHOWN, word);
    if (classes > 0 && (value < 0 || value >= classes))
        return odd(out, DDP_LABEL_WRONG, "label-class",
                   "class %.*s is not one of the %d classes 0 to %d", SHOWN, word, classes,
                   classes - 1);
    if (value < 0 || value == INT_MAX)
        return odd(out, DDP_LABEL_WRONG, "label-class", "class %.*s is none", SHOWN, word);
    out->box.class_id = value;
    return DDP_LABEL_BOX;
}

/* Read a number below a million. */
static ddp_label_verdict read_number(ddp_label_line *out, const char *word, float *value)
{
    double number;

    if (!ddp_word_number(word, &number) || fabs(number) >= 1e6)
        return odd(out, DDP_LABEL_WRONG, "label-number", "'%.*s' is no number: .5, 0.5 or 5e-1 is",
                   SHOWN, word);
    *value = strtof(word, NULL);
    return DDP_LABEL_BOX;
}

/* Put a fraction on an edge of the picture beyond which rounding has put it: of six digits, or of a
 * float. */
static void cut_rounding(float *value)
{
    static const float rounding = 1e-6F;

    if (*value > 1 && *value <= 1 + rounding)
        *value = 1;
    if (*value < 0 && *value >= -rounding)
        *value = 0;
}

/* words: the box's four numbers as the file has them. */
static ddp_label_verdict check_box(ddp_label_line *out, char *const *words)
{
    static const float tiny = .001F;
    ddp_label_box *b = &out->box;
    char box[4 * (SHOWN + 1)];
    float most;

    (void)snprintf(box, sizeof box, "%.*s %.*s %.*s %.*s", SHOWN, words[0], SHOWN, words[1], SHOWN,
                   words[2], SHOWN, words[3]);
    if (b->w < 0 || b->h < 0)
        return odd(out, DDP_LABEL_WRONG, "label-size", "%s: a box of negative size", box);
    for (int i = 0; i < 4; i++)
        cut_rounding((float *[]){&b->x, &b->y, &b->w, &b->h}[i]);
    most = fmaxf(fmaxf(b->x, b->y), fmaxf(b->w, b->h));
    if (most > 2)
        return odd(out, DDP_LABEL_CUT, "label-pixels",
                   "%s are pixels%s; fractions of the picture are wanted", box,
                   most <= 100 ? " or percentages" : "");
    if (b->w == 0 || b->h == 0)
        return odd(out, DDP_LABEL_CUT, "label-zero", "%s: a box of size 0", box);
    if (b->x < 0 || b->y < 0 || most > 1)
        return odd(out, DDP_LABEL_CUT, "label-range",
                   "%s are not all fractions of the picture, 0 to 1", box);
    if (b->w < tiny || b->h < tiny)
        return odd(out, DDP_LABEL_BOX, "label-tiny",
                   "training leaves out a box of less than a thousandth of the picture");
    return DDP_LABEL_BOX;
}

ddp_label_verdict ddp_label_line_read(ddp_label_line *out, char *line, int classes)
{
    char *words[COLUMNS + 1];
    int n = split(line, words);
    float *numbers[] = {&out->box.x, &out->box.y, &out->box.w, &out->box.h};
    ddp_label_verdict verdict;

    out->kind = NULL;
    if (n == 0)
        return DDP_LABEL_BLANK;
    if (n != COLUMNS)
        return odd(out, DDP_LABEL_WRONG, "label-columns",
                   "%s%d column%s, and CLASS X Y WIDTH HEIGHT are five",
                   n > COLUMNS ? "more than " : "", n > COLUMNS ? COLUMNS : n, n == 1 ? "" : "s");
    verdict = read_class(out, words[0], classes);
    for (int i = 1; verdict == DDP_LABEL_BOX && i < COLUMNS; i++)
        verdict = read_number(out, words[i], numbers[i - 1]);
    return verdict == DDP_LABEL_BOX ? check_box(out, words + 1) : verdict;
}
