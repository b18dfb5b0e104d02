/* Fuzzes PNGs. */
#include "decode_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return decode_input(decode_png, data, size);
}
