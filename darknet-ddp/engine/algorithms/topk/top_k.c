#include "algorithms/topk/top_k.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { BINS = 1 << 11 };

/* ---- sections ---- */

static size_t kept_of(size_t count, double percent)
{
    double kept = ceil((double)count * percent / 100);

    return kept < (double)count ? (size_t)kept : count;
}

int ddp_top_k_next_section(ddp_top_k_section *s, size_t count, double percent)
{
    s->at += 2 * s->kept;
    s->from += s->count;
    s->count = count - s->from < DDP_TOP_K_SECTION ? count - s->from : DDP_TOP_K_SECTION;
    s->kept = kept_of(s->count, percent);
    return s->count > 0;
}

size_t ddp_top_k_numbers(size_t count, double percent)
{
    ddp_top_k_section s = {0};

    while (ddp_top_k_next_section(&s, count, percent))
        continue;
    return s.at;
}

/* ---- the largest of a section ---- */

/* Grows with the magnitude. */
static uint32_t magnitude(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffff;
}

/* Return the next bits, down to bit `below`, of the rank-th largest (from 1) of the elements whose
 * magnitude begins with `prefix` down to bit `above`. *rank becomes its rank among the elements
 * that have these bits, too. */
static uint32_t next_bits(const float *x, size_t count, uint32_t prefix, int above, int below,
                          size_t *rank)
{
    size_t bins[BINS] = {0};
    uint32_t mask = (1U << (above - below)) - 1, bin = mask;

    for (size_t i = 0; i < count; i++) {
        uint32_t m = magnitude(x[i]);

        if (m >> above == prefix)
            bins[m >> below & mask]++;
    }
    for (; bin > 0 && *rank > bins[bin]; bin--)
        *rank -= bins[bin];
    return bin;
}

/* The magnitude of the kept-th largest. *equal becomes how many of that magnitude are to be taken.
 */
static uint32_t threshold(const float *x, size_t count, size_t kept, size_t *equal)
{
    static const int cuts[] = {31, 20, 10, 0};
    uint32_t prefix = 0;

    *equal = kept;
    for (int i = 0; i < 3; i++)
        prefix = prefix << (cuts[i] - cuts[i + 1])
                 | next_bits(x, count, prefix, cuts[i], cuts[i + 1], equal);
    return prefix;
}

static void take_section(float *out, const float *x, const ddp_top_k_section *s)
{
    float *values = out + s->at, *places = values + s->kept;
    size_t equal, taken = 0;
    uint32_t least;

    x += s->from;
    least = threshold(x, s->count, s->kept, &equal);
    for (size_t i = 0; i < s->count; i++) {
        uint32_t m = magnitude(x[i]);

        if (m < least || (m == least && equal == 0))
            continue;
        equal -= m == least;
        values[taken] = x[i];
        places[taken++] = (float)i;
    }
}

/* ---- arrays ---- */

void ddp_top_k_select(float *out, const float *x, size_t count, double percent)
{
    ddp_top_k_section s = {0};

    while (ddp_top_k_next_section(&s, count, percent))
        take_section(out, x, &s);
}

static int is_place(float place, size_t count)
{
    return place >= 0 && place < (float)count; /* not where it is NaN */
}

void ddp_top_k_add(float *x, const float *selected, size_t count, double percent)
{
    ddp_top_k_section s = {0};

    while (ddp_top_k_next_section(&s, count, percent))
        for (size_t i = 0; i < s.kept; i++) {
            float place = selected[s.at + s.kept + i];

            if (is_place(place, s.count))
                x[s.from + (size_t)place] += selected[s.at + i];
        }
}

void ddp_top_k_clear(float *x, const float *selected, size_t count, double percent)
{
    ddp_top_k_section s = {0};

    while (ddp_top_k_next_section(&s, count, percent))
        for (size_t i = 0; i < s.kept; i++) {
            float place = selected[s.at + s.kept + i];

            if (is_place(place, s.count))
                x[s.from + (size_t)place] = 0;
        }
}
