#include "layers/images/label_text.h"
#include "image.h"

/* Functions of Darknet's image.c that no header has. */
image tile_images(image a, image b, int dx);
image border_image(image a, int border);

enum { SIZES = 8, FIRST = 32, LAST = 126 }; // of data/labels/: sizes, and its first and last letter

/* Return how many bytes follow the first one of a letter, and set *bits to its own bits. */
static int bytes_after(unsigned char first, unsigned *bits)
{
    if (first < 0x80) {
        *bits = first;
        return 0;
    }
    if (first >= 0xc2 && first < 0xe0) {
        *bits = first & 0x1fu;
        return 1;
    }
    if (first >= 0xe0 && first < 0xf0) {
        *bits = first & 0xfu;
        return 2;
    }
    if (first >= 0xf0 && first < 0xf5) {
        *bits = first & 7u;
        return 3;
    }
    return -1;
}

/* Return the next character, as label_next_letter does, but passes none over. */
static unsigned next_character(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    unsigned letter;
    int i, more = bytes_after(*at, &letter);
    if (!*at)
        return 0;
    for (i = 1; i <= more && (at[i] & 0xc0) == 0x80; ++i)
        letter = letter << 6 | (at[i] & 0x3fu);
    if (more < 0 || i <= more) {
        *text += 1;
        return '?';
    }
    *text += 1 + more;
    return letter;
}

unsigned label_next_letter(const char **text)
{
    unsigned letter;
    do
        letter = next_character(text);
    while ((letter > 0 && letter < FIRST) || (letter > LAST && letter < 0xa0));
    return letter;
}

/* The caller frees the picture. */
static image picture_of(image **characters, int size, unsigned letter, int overlap)
{
    image found = {0};
    if (letter > LAST)
        found = label_letter(letter, characters[size]['?'].h, overlap);
    if (found.w > 0)
        return found;
    return copy_image(characters[size][letter > LAST ? '?' : letter]);
}

image get_label(image **characters, char *string, int size)
{
    const char *at = string;
    unsigned letter;
    image label = make_empty_image(0, 0, 0);
    size = size / 10;
    if (size > SIZES - 1)
        size = SIZES - 1;
    int step = -size - 1 + (size + 1) / 2; // letters have a margin
    while (characters && (letter = label_next_letter(&at))) {
        image one = picture_of(characters, size, letter, -step);
        image all = tile_images(label, one, step);
        free_image(label);
        free_image(one);
        label = all;
    }
    image framed = border_image(label, (int)((double)label.h * .25));
    free_image(label);
    return framed;
}
