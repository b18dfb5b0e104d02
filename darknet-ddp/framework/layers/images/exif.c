#include "layers/images/exif.h"

#include <string.h>

enum {
    HEADER = 8, // byte order, 42, where the first table of fields lies
    FIELD = 12, // number, type, count, value
    ORIENTATION = 0x0112,
    SHORT = 3
};

/* Exif data, little or big end first. */
typedef struct {
    const unsigned char *bytes;
    size_t size;
    int little;
} tiff;

static size_t number_at(const tiff *t, size_t at, size_t bytes)
{
    size_t i, v = 0;
    for (i = 0; i < bytes; ++i)
        v = v << 8 | t->bytes[at + (t->little ? bytes - 1 - i : i)];
    return v;
}

/* Return a field's value as an orientation, or 0 if the field is another. */
static int orientation_at(const tiff *t, size_t at)
{
    size_t v;
    if (number_at(t, at, 2) != ORIENTATION || number_at(t, at + 2, 2) != SHORT)
        return 0;
    v = number_at(t, at + 8, 2);
    return v >= EXIF_UPRIGHT && v <= EXIF_LAST ? (int)v : 0;
}

int exif_orientation(const unsigned char *exif, size_t size)
{
    tiff t = {exif, size, 0};
    size_t at, fields;
    int found = 0;
    if (size < HEADER || (memcmp(exif, "II*\0", 4) != 0 && memcmp(exif, "MM\0*", 4) != 0))
        return EXIF_UPRIGHT;
    t.little = exif[0] == 'I';
    at = number_at(&t, 4, 4);
    if (at > size - 2)
        return EXIF_UPRIGHT;
    fields = number_at(&t, at, 2);
    for (at += 2; fields > 0 && !found && size - at >= FIELD; at += FIELD, --fields)
        found = orientation_at(&t, at);
    return found ? found : EXIF_UPRIGHT;
}

int exif_orientation_of_png(const unsigned char *file, size_t size)
{
    tiff png = {file, size, 0};
    size_t at = 8; // behind the signature: length, name, data, checksum
    while (at <= size && size - at >= 12) {
        size_t length = number_at(&png, at, 4);
        if (length > size - at - 12)
            break;
        if (!memcmp(file + at + 4, "eXIf", 4))
            return exif_orientation(file + at + 8, length);
        at += length + 12;
    }
    return EXIF_UPRIGHT;
}

/* Orientation n says what the stored picture's first row and first column are, as they are seen: 1
 * top and left, 2 top and right, 3 bottom and right, 4 bottom and left; 5 left and top, 6 right and
 * top, 7 right and bottom, 8 left and bottom. */
void exif_turn(const unsigned char *from, int w, int h, int c, int orientation, unsigned char *to)
{
    int turned = orientation >= EXIF_TRANSPOSED;
    int from_right = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    int from_below = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    int wide = turned ? h : w, high = turned ? w : h, x, y;
    for (y = 0; y < high; ++y)
        for (x = 0; x < wide; ++x) {
            int seen_x = from_right ? wide - 1 - x : x, seen_y = from_below ? high - 1 - y : y;
            size_t at = turned ? (size_t)seen_x * (size_t)w + (size_t)seen_y
                               : (size_t)seen_y * (size_t)w + (size_t)seen_x;
            memcpy(to, from + at * (size_t)c, (size_t)c);
            to += c;
        }
}
