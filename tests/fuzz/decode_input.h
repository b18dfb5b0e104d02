/* Gives any bytes to one decoder of pictures (layers/images/decode.h). */
#ifndef DDP_FUZZ_DECODE_INPUT_H
#define DDP_FUZZ_DECODE_INPUT_H

#include "layers/images/decode.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PIXELS = 1 << 20 }; /* more pixels only take time */

static int decode_input(int (*decode)(const unsigned char *file, size_t size, int least_side,
                                      decoded *out),
                        const uint8_t *data, size_t size)
{
    decoded header = {0}, out = {0};

    if (decode(data, size, DECODE_SIZE, &header) || (double)header.w * header.h > MOST_PIXELS)
        return 0;
    if (decode(data, size, DECODE_WHOLE, &out) == 0) {
        volatile unsigned sum = 0;

        for (size_t i = 0; i < (size_t)out.w * (size_t)out.h * (size_t)out.c; i++)
            sum += out.bytes[i];
    } else if (out.bytes || !out.note[0]) {
        abort();
    }
    free(out.bytes);
    return 0;
}

#endif
