#include "core/equal_check.h"

enum { BITS = 6 };

static uint64_t fold(uint64_t number)
{
    int bits = BITS * DDP_EQUAL_DIGITS;

    return (number ^ (number >> bits)) & (((uint64_t)1 << bits) - 1);
}

void ddp_equal_check_write(float sent[DDP_EQUAL_FLOATS], uint64_t number)
{
    uint64_t rest = fold(number);

    for (int i = 0; i < DDP_EQUAL_DIGITS; i++, rest >>= BITS) {
        float digit = (float)(rest & ((1 << BITS) - 1));

        sent[2 * i] = digit;
        sent[2 * i + 1] = digit * digit;
    }
}

int ddp_equal_check_read(const float sums[DDP_EQUAL_FLOATS], int ranks)
{
    for (int i = 0; i < DDP_EQUAL_DIGITS; i++) {
        double sum = (double)sums[2 * i], squares = (double)sums[2 * i + 1];

        if (ranks * squares != sum * sum)
            return 0;
    }
    return 1;
}
