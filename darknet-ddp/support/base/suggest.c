#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Return how many letters must be put in, left out, changed or swapped to make b of a. Computes row
 * by row, from the two rows before, the distance of a's first i letters and b's first j. */
static int distance(const char *a, const char *b)
{
    int rows[3][LONGEST], *before = rows[0], *above = rows[1], *row = rows[2];
    int la = (int)strlen(a), lb = (int)strlen(b);

    for (int j = 0; j <= lb; j++)
        row[j] = j;
    for (int i = 1; i <= la; i++) {
        int *spare = before;

        before = above;
        above = row;
        row = spare;
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int other = a[i - 1] != b[j - 1];

            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + other);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[lb];
}

/* Return the rest of `word` behind a beginning, or a dash, that the other word has too. */
static const char *tail(const char *beginning, const char *word, const char *other)
{
    size_t length = beginning ? strlen(beginning) : 0;

    if (length > 0 && strncmp(word, beginning, length) == 0
        && strncmp(other, beginning, length) == 0)
        return word + length;
    return *word == '-' && *other == '-' ? word + 1 : word;
}

void ddp_suggest_try(ddp_suggest *n, const char *candidate)
{
    const char *mine = tail(n->beginning, n->word, candidate);
    const char *theirs = tail(n->beginning, candidate, n->word);
    size_t length = strlen(mine);
    int allowed = (int)(length + 1) / 3, d;

    if (length >= LONGEST || strlen(theirs) >= LONGEST)
        return;
    d = distance(mine, theirs);
    if (d > allowed || d > 3 || (n->best && d >= n->distance))
        return;
    n->best = candidate;
    n->distance = d;
}

const char *ddp_suggest_text(const ddp_suggest *n, char *text)
{
    text[0] = '\0';
    if (n->best)
        (void)snprintf(text, DDP_SUGGEST_TEXT, "; did you mean %s?", n->best);
    return text;
}
