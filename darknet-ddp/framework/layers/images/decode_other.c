#include "layers/images/decode.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#undef calloc
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_JPEG // libjpeg's
#define STBI_NO_PNG  // libpng's
#define STBI_NO_PIC
#define STBI_NO_STDIO
#define STBI_MALLOC(size) calloc(1, size) // what a file leaves out is 0
#define STBI_REALLOC(old, size) realloc(old, size)
#define STBI_FREE(old) free(old)
#include "stb_image.h"

/* Decode the pixels. Bytes behind the end of the file are read as zeros; a picture that needed
 * such bytes is refused. */
static int load(stbi__context *s, decoded *out)
{
    out->bytes = stbi__load_and_postprocess_8bit(s, &out->w, &out->h, &out->c, 0);
    if (out->bytes && s->cut_off)
        return stbi__err("the file is cut off", "");
    return out->bytes != 0;
}

int decode_other(const unsigned char *file, size_t size, int least_side, decoded *out)
{
    stbi__context s;
    int done = size < INT_MAX ? 1 : stbi__err("the file is too large", "");
    if (done) {
        stbi__start_mem(&s, file, (int)size);
        done = least_side == DECODE_SIZE ? stbi__info_main(&s, &out->w, &out->h, &out->c)
                                         : load(&s, out);
    }
    if (done && (out->w < 1 || out->h < 1))
        done = stbi__err("it has no width or no height", "");
    if (done)
        return 0;
    free(out->bytes);
    out->bytes = 0;
    const char *why = stbi_failure_reason(); // of some damage none
    snprintf(out->note, sizeof out->note, "%s", why && *why ? why : "it is damaged");
    return -1;
}
