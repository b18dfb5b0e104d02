#include "samples/sampler.h"

#include "base/random.h"

/* Small lists set the number of rounds: for 4 lines the odds of any two of the 24 orders
 * differ by less than 1e-6 of themselves, for 6 lines by half a percent. */
enum { ROUNDS = 24, DRAW_DETAIL = 0xff, INSTEAD_DETAIL = 0xfe };

static uint64_t random_below(uint64_t seed, int detail, uint64_t number, uint32_t block,
                             uint64_t end)
{
    uint32_t bits[4];

    ddp_random_block(seed, ddp_random_topic(DDP_PURPOSE_SAMPLER, detail), number, block, bits);
    return (bits[0] | (uint64_t)bits[1] << 32) % end;
}

/* The least side whose square is at least count, which is at least 1. */
static uint64_t side_of(uint64_t count)
{
    uint64_t below = 0; /* the largest whose square is less than count */

    for (uint64_t bit = 1ULL << 31; bit > 0; bit >>= 1) {
        if ((below | bit) * (below | bit) < count)
            below |= bit;
    }
    return below + 1;
}

size_t ddp_sampler_at(uint64_t seed, uint64_t number, size_t count)
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

size_t ddp_sampler_draw(uint64_t seed, uint64_t number, size_t count)
{
    return (size_t)random_below(seed, DRAW_DETAIL, number, 0, count);
}

size_t ddp_sampler_instead(uint64_t seed, size_t line, unsigned attempt, size_t count)
{
    return (size_t)random_below(seed, INSTEAD_DETAIL, line, attempt, count);
}
