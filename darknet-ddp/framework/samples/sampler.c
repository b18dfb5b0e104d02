/* Chooses which line of the list a sample is (ddp_sampler_choose), and draws a run's random
 * numbers: ddp_draw_for names their purpose, each ddp_draw returns the next.
 *
 * With replacement (-ddp_replace) each line is drawn by itself. Without, each epoch has its own
 * permutation of the list. Either way, another line may take the place of one that cannot be read.
 * No permutation is stored: the line at place p of an epoch is computed from p, the epoch and the
 * seed by a Feistel network over a rectangle of about sqrt(count) by sqrt(count) numbers, which
 * holds 0 .. count-1. Its round function is Philox, and its sums are modulo a side of the rectangle
 * (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002). A result outside the
 * list goes through the network again until it is inside. */
#include "samples/sampler.h"

#include "base/random.h"
#include "samples/loader_status.h"
#ifdef GPU
#include "samples/random_streams_cuda.h"
#endif

/* Small lists set the number of rounds: for 4 lines the odds of any two of the 24 orders
 * differ by less than 1e-6 of themselves, for 6 lines by half a percent. */
enum { ROUNDS = 24, DRAW_DETAIL = 0xff };

static struct {
    uint64_t seed;
    int replace;          /* 1: lines are drawn, and come again */
    ddp_bad_samples *bad; /* NULL: none are known */
} run;

void ddp_sampler_open(int replace, ddp_bad_samples *bad)
{
    run.replace = replace;
    run.bad = bad;
}

/* ---- which line a sample is ---- */

static uint64_t random_below(uint64_t seed, int detail, uint64_t number, uint32_t block,
                             uint64_t end)
{
    return ddp_random_below(seed, ddp_random_topic(DDP_PURPOSE_SAMPLER, detail), number, block,
                            end);
}

/* Return the least side whose square is at least count, which is at least 1. */
static uint64_t side_of(uint64_t count)
{
    uint64_t below = 0; /* the largest whose square is less than count */

    for (uint64_t bit = 1ULL << 31; bit > 0; bit >>= 1) {
        if ((below | bit) * (below | bit) < count)
            below |= bit;
    }
    return below + 1;
}

size_t ddp_sampler_permuted_line(uint64_t seed, uint64_t number, size_t count)
{
    uint64_t width = side_of(count);
    uint64_t height = (count - 1) / width + 1;
    uint64_t epoch = number / count;
    uint64_t line = number % count;

    do {
        uint64_t x = line % width;
        uint64_t y = line / width;

        for (int round = 0; round < ROUNDS; round += 2) {
            x = (x + random_below(seed, round, epoch, (uint32_t)y, width)) % width;
            y = (y + random_below(seed, round + 1, epoch, (uint32_t)x, height)) % height;
        }
        line = y * width + x;
    } while (line >= count);
    return (size_t)line;
}

size_t ddp_sampler_drawn_line(uint64_t seed, uint64_t number, size_t count)
{
    return (size_t)random_below(seed, DRAW_DETAIL, number, 0, count);
}

size_t ddp_sampler_instead(size_t line, size_t n)
{
    return run.bad ? ddp_bad_samples_line_to_load(run.bad, line, n) : line;
}

size_t ddp_sampler_line(size_t sample, size_t n)
{
    size_t line = run.replace ? ddp_sampler_drawn_line(run.seed, sample, n)
                              : ddp_sampler_permuted_line(run.seed, sample, n);

    return ddp_sampler_instead(line, n);
}

size_t ddp_sampler_choose(size_t sample, size_t n)
{
    ddp_loading_begin();
    return ddp_sampler_line(sample, n);
}

void ddp_sampler_loaded(size_t sample)
{
    ddp_loading_end();
    if (run.bad)
        ddp_bad_samples_note_loaded(run.bad, sample);
}

/* ---- its random numbers ---- */

static _Thread_local ddp_random stream;
static _Thread_local int named;

void ddp_sampler_seed(uint64_t seed)
{
    run.seed = seed;
    named = 0;
}

void ddp_draw_for(draw_purpose purpose, int layer, size_t number)
{
    ddp_random_init(&stream, run.seed, ddp_random_topic((unsigned)purpose, layer), number);
    named = 1;
}

unsigned ddp_draw(void)
{
    if (!named) {
        ddp_random_init(&stream, run.seed, ddp_random_topic(DDP_PURPOSE_NONE, 0), 0);
        named = 1;
    }
    return ddp_random_next(&stream);
}

#ifdef GPU
void ddp_draw_gpu(float *x_gpu, size_t each, int samples, int layer, size_t first)
{
    cudaError_t rc = ddp_random_streams_cuda(x_gpu, each, (size_t)samples, run.seed,
                                             ddp_random_topic((unsigned)DRAW_LAYER, layer), first);

    if (rc != cudaSuccess)
        fatal("CUDA: random numbers for layer %d failed: %s (%d)", layer, cudaGetErrorString(rc),
              (int)rc);
}
#endif
