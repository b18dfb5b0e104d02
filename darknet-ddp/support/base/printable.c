#include "base/printable.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_SHOWN = 0x20, DELETE = 0x7f, FIRST_BEHIND_CONTROLS = 0xa0, MARK = 0xfeff };

/* Return how many bytes a character with that first byte has; 0 if there is none. */
static size_t length_of(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Return how many bytes at text, of at most `length`, belong to the character that the first
 * begins. */
static size_t whole(const unsigned char *text, size_t bytes, size_t length)
{
    size_t n = 1;

    while (n < length && n < bytes && (text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static uint32_t value_of(const unsigned char *text, size_t length)
{
    uint32_t value = length == 1 ? text[0] : text[0] & (0x7fU >> length);

    for (size_t i = 1; i < length; i++)
        value = value << 6 | (text[i] & 0x3f);
    return value;
}

static int is_shown(const unsigned char *text, size_t length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t value = value_of(text, length);

    if (value == '\n' || value == '\t')
        return 1;
    if (value < FIRST_SHOWN || (value >= DELETE && value < FIRST_BEHIND_CONTROLS) || value == MARK)
        return 0;
    return value >= least[length] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
}

static char *escape(char *out, const unsigned char *text, size_t length)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < length; i++) {
        *out++ = '\\';
        *out++ = 'x';
        *out++ = digits[text[i] >> 4];
        *out++ = digits[text[i] & 15];
    }
    return out;
}

size_t ddp_printable(char *out, const char *text, size_t bytes, size_t *used)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + bytes;
    char *to = out;

    while (at < end) {
        size_t length = length_of(*at), left = (size_t)(end - at), n = whole(at, left, length);

        if (n < length && n == left && used)
            break;
        if (n < length || length == 0)
            n = 1; /* the byte is no character */
        if (n == length && is_shown(at, n)) {
            memcpy(to, at, n);
            to += n;
        } else {
            to = escape(to, at, n);
        }
        at += n;
    }
    if (used)
        *used = (size_t)((const char *)at - text);
    return (size_t)(to - out);
}
