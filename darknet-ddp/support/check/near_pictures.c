#include "check/near_pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 32, WAVES = DDP_WAVES, BLOCKS = 8, BLOCK_BITS = 8, BUCKETS = 1 << BLOCK_BITS };
enum { SIGNS_MOST = 20, MIRRORS = 4 }; /* most signs that differ in near pictures; ways to mirror */

static const double near = 0.99;       /* likeness from which pictures are near */
static const double even = 2;          /* grey levels: what varies less is one even area */
static const double same_aspect = 1.1; /* most that aspects differ by; tiny copies are rounded */
static const double waves_kept =
    0.6; /* of a side's pixels: waves that scaling leaves as they are */

/* ---- signatures ---- */

/* Set means[0..SIDE) of a row: means of equal shares of its `count` values, step apart. */
static void shrink_row(const double *row, size_t step, int count, double *means)
{
    double share = (double)count / SIDE;

    for (int i = 0; i < SIDE; i++) {
        double from = i * share, to = from + share, sum = 0;

        for (int x = (int)from; x < count && x < to; x++)
            sum += row[(size_t)x * step] * (fmin(to, x + 1) - fmax(from, x));
        means[i] = sum / share;
    }
}

/* Shrink a picture to SIDE x SIDE. Returns 0; -1 if there is no memory. */
static int shrink(const unsigned char *grey, int width, int height, double means[SIDE][SIDE])
{
    size_t w = (size_t)width, h = (size_t)height;
    double *row = malloc(w * sizeof *row), *narrow = malloc(h * SIDE * sizeof *narrow);
    double column[SIDE];

    for (size_t y = 0; row && narrow && y < h; y++) {
        for (size_t x = 0; x < w; x++)
            row[x] = grey[y * w + x];
        shrink_row(row, 1, width, narrow + y * SIDE);
    }
    for (int x = 0; row && narrow && x < SIDE; x++) {
        shrink_row(narrow + x, SIDE, height, column);
        for (int y = 0; y < SIDE; y++)
            means[y][x] = column[y];
    }
    free(row);
    free(narrow);
    return row && narrow ? 0 : -1;
}

/* The lowest waves of a cosine transform: waves[v][u] has v half waves down and u across. */
static void transform(double means[SIDE][SIDE], double waves[WAVES][WAVES])
{
    double basis[WAVES][SIDE], across[SIDE][WAVES] = {{0}};

    for (int u = 0; u < WAVES; u++)
        for (int x = 0; x < SIDE; x++)
            basis[u][x] = sqrt((u ? 2.0 : 1.0) / SIDE) * cos(M_PI / SIDE * (x + 0.5) * u);
    for (int y = 0; y < SIDE; y++)
        for (int u = 0; u < WAVES; u++)
            for (int x = 0; x < SIDE; x++)
                across[y][u] += means[y][x] * basis[u][x];
    for (int v = 0; v < WAVES; v++)
        for (int u = 0; u < WAVES; u++) {
            waves[v][u] = 0;
            for (int y = 0; y < SIDE; y++)
                waves[v][u] += across[y][u] * basis[v][y];
        }
}

/* Call each(ctx, bit, v, u) for the waves whose signs are in a hash, the lowest first. */
static void each_sign(void (*each)(void *ctx, int bit, int v, int u), void *ctx)
{
    int bit = 0;

    for (int sum = 1; bit < 64; sum++)
        for (int v = 0; v <= sum && bit < 64; v++)
            each(ctx, bit++, v, sum - v);
}

static void set_sign(void *ctx, int bit, int v, int u)
{
    ddp_signature *s = ctx;

    if (s->waves[v * WAVES + u] > 0)
        s->hash |= UINT64_C(1) << bit;
}

void ddp_signature_of(ddp_signature *s, const unsigned char *grey, int width, int height)
{
    double means[SIDE][SIDE], waves[WAVES][WAVES], length = 0;

    *s = (ddp_signature){0};
    if (shrink(grey, width, height, means))
        return;
    transform(means, waves);
    waves[0][0] = 0; /* how bright it is */
    for (int i = 0; i < WAVES * WAVES; i++)
        length += waves[i / WAVES][i % WAVES] * waves[i / WAVES][i % WAVES];
    length = sqrt(length);
    if (length / SIDE < even)
        return;
    s->aspect = (float)width / (float)height;
    s->known = (int)fmin(WAVES, waves_kept * (width < height ? width : height));
    for (int i = 0; i < WAVES * WAVES; i++)
        s->waves[i] = (int16_t)lrint(32767 * waves[i / WAVES][i % WAVES] / length);
    each_sign(set_sign, s);
}

/* ---- likeness ---- */

/* Return how much the waves that both pictures have correlate, from -1 to 1. Picture b counts as it
 * is, or mirrored in x, in y or in both, whichever correlates most. Returns 0 if one has no
 * signature, or their aspects differ by more than a factor of 1.1. */
static double likeness_of(const ddp_signature *a, const ddp_signature *b)
{
    int64_t sums[2][2] = {{0}}; /* by odd v and odd u: mirrored, their waves change their signs */
    int known = a->known < b->known ? a->known : b->known;
    double best = -1, lengths[2] = {0};

    if (a->aspect == 0 || b->aspect == 0 || (double)a->aspect > same_aspect * (double)b->aspect
        || (double)b->aspect > same_aspect * (double)a->aspect)
        return 0;
    for (int v = 0; v < known; v++)
        for (int u = 0; u < known; u++) {
            int32_t x = a->waves[v * WAVES + u], y = b->waves[v * WAVES + u];

            sums[v & 1][u & 1] += x * y;
            lengths[0] += x * x;
            lengths[1] += y * y;
        }
    if (lengths[0] <= 0 || lengths[1] <= 0)
        return 0;
    for (int m = 0; m < MIRRORS; m++) {
        int64_t y = m & 2 ? -1 : 1, x = m & 1 ? -1 : 1;

        best =
            fmax(best, (double)(sums[0][0] + x * sums[0][1] + y * sums[1][0] + x * y * sums[1][1]));
    }
    return best / sqrt(lengths[0] * lengths[1]);
}

/* ---- pairs ---- */

/* Signs that change when a picture is mirrored: from side to side, from top to bottom, both. */
static void set_mirror(void *ctx, int bit, int v, int u)
{
    uint64_t *masks = ctx;

    for (int m = 0; m < MIRRORS; m++)
        if (((m & 1) && (u & 1)) != ((m & 2) && (v & 1)))
            masks[m] |= UINT64_C(1) << bit;
}

/* Pictures by one block of their hash: those of bucket k are order[starts[k]..starts[k + 1]). */
struct buckets {
    uint32_t *order;
    size_t starts[BUCKETS + 1];
};

static unsigned block_of(uint64_t hash, int block)
{
    return (unsigned)(hash >> (block * BLOCK_BITS)) & (BUCKETS - 1);
}

static void sort(struct buckets *b, const ddp_signature *all, size_t count, int block)
{
    size_t next[BUCKETS];

    memset(b->starts, 0, sizeof b->starts);
    for (size_t i = 0; i < count; i++)
        b->starts[block_of(all[i].hash, block) + 1]++;
    for (int k = 0; k < BUCKETS; k++) {
        b->starts[k + 1] += b->starts[k];
        next[k] = b->starts[k];
    }
    for (size_t i = 0; i < count; i++)
        b->order[next[block_of(all[i].hash, block)]++] = (uint32_t)i;
}

/* Return 1 if an earlier block of the hashes is the same: the pair was met there. */
static int was_met(uint64_t differs, int block)
{
    for (int b = 0; b < block; b++)
        if (block_of(differs, b) == 0)
            return 1;
    return 0;
}

int ddp_near_find(const ddp_signature *all, size_t count,
                  void (*found)(void *ctx, size_t i, size_t k, double likeness), void *ctx)
{
    struct buckets b = {.order = malloc((count + 1) * sizeof *b.order)};
    uint64_t masks[MIRRORS] = {0};

    if (!b.order)
        return -1;
    each_sign(set_mirror, masks);
    for (int block = 0; block < BLOCKS; block++) {
        sort(&b, all, count, block);
        for (size_t i = 0; i < count; i++)
            for (int m = 0; m < MIRRORS && all[i].aspect > 0; m++) {
                uint64_t hash = all[i].hash ^ masks[m];
                unsigned bucket = block_of(hash, block);

                for (size_t at = b.starts[bucket]; at < b.starts[bucket + 1] && b.order[at] < i;
                     at++) {
                    const ddp_signature *other = &all[b.order[at]];
                    uint64_t differs = hash ^ other->hash;
                    double likeness;

                    if (__builtin_popcountll(differs) > SIGNS_MOST || was_met(differs, block))
                        continue;
                    likeness = likeness_of(&all[i], other);
                    if (likeness >= near)
                        found(ctx, i, b.order[at], likeness);
                }
            }
    }
    free(b.order);
    return 0;
}
