/* Fuzzes JPEGs. */
#include "decode_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return decode_input(decode_jpeg, data, size);
}
