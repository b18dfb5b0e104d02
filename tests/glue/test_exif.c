/* ddp-test: quick */
/* A picture is what viewers show: each orientation of a JPEG and a PNG, in both orders of bytes,
 * wherever the Exif data stand, is decoded upright, and its size is that of the decoded picture. */
#include "../unit/folder.h"
#include "../unit/numbers.h"

#include "layers/images/decode.h"
#include "layers/images/exif.h"

#include "check/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include <cmocka.h>

enum { WIDE = 24, HIGH = 11, MOST = 1 << 14 };

static struct folder folder;

static int make_folder(void **state)
{
    (void)state;
    folder_open(&folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

struct bytes {
    unsigned char of[MOST];
    size_t count;
};

static void put(struct bytes *b, const void *from, size_t count)
{
    assert_true(b->count + count <= MOST);
    memcpy(b->of + b->count, from, count);
    b->count += count;
}

static void put_number(struct bytes *b, unsigned v, int bytes, int little)
{
    for (int i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)(v >> 8 * (little ? i : bytes - 1 - i));

        put(b, &byte, 1);
    }
}

static void put_field(struct bytes *b, unsigned number, unsigned v, int little)
{
    put_number(b, number, 2, little);
    put_number(b, 3, 2, little);
    put_number(b, 1, 4, little);
    put_number(b, v, 2, little);
    put_number(b, 0, 2, little);
}

/* Exif data with a field before the orientation, and a thumbnail's table of another one. */
static struct bytes exif_of(unsigned orientation, int little)
{
    struct bytes b = {.count = 0};

    put(&b, little ? "II*\0" : "MM\0*", 4);
    put_number(&b, 12, 4, little);
    put(&b, "\0\0\0\0", 4);
    put_number(&b, 2, 2, little);
    put_field(&b, 0x0100, 3, little);
    put_field(&b, 0x0112, orientation, little);
    put_number(&b, 42, 4, little);
    put_number(&b, 1, 2, little);
    put_field(&b, 0x0112, 1 + orientation % 8, little);
    put_number(&b, 0, 4, little);
    return b;
}

int stbi_write_jpg(const char *name, int w, int h, int channels, const void *bytes, int quality);

static void draw_picture(unsigned char *rgb)
{
    for (int i = 0; i < WIDE * HIGH; i++) {
        rgb[3 * i] = (unsigned char)(10 * (i % WIDE));
        rgb[3 * i + 1] = (unsigned char)(20 * (i / WIDE));
        rgb[3 * i + 2] = (unsigned char)(i % 7 * 30);
    }
}

static struct bytes read_back(const char *path)
{
    struct bytes b = {.count = 0};
    size_t size;
    void *all = folder_read(path, &size);

    put(&b, all, size);
    free(all);
    return b;
}

/* Write a JPEG with XMP before its Exif data. */
static const char *write_jpeg(const struct bytes *exif)
{
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/\0<x/>";
    const char *path = folder_file(&folder, "a.jpg");
    unsigned char rgb[WIDE * HIGH * 3];
    struct bytes plain, b = {.count = 0};

    draw_picture(rgb);
    assert_true(stbi_write_jpg(path, WIDE, HIGH, 3, rgb, 95));
    plain = read_back(path);
    put(&b, "\xff\xd8\xff\xe1", 4);
    put_number(&b, sizeof xmp + 2, 2, 0);
    put(&b, xmp, sizeof xmp);
    put(&b, "\xff\xe1", 2);
    put_number(&b, (unsigned)exif->count + 8, 2, 0);
    put(&b, "Exif\0\0", 6);
    put(&b, exif->of, exif->count);
    put(&b, plain.of + 2, plain.count - 2);
    folder_write(path, b.of, b.count);
    return path;
}

static void put_chunk(struct bytes *b, const struct bytes *exif)
{
    struct bytes chunk = {.count = 0};

    put(&chunk, "eXIf", 4);
    put(&chunk, exif->of, exif->count);
    put_number(b, (unsigned)exif->count, 4, 0);
    put(b, chunk.of, chunk.count);
    put_number(b, 0, 4, 0); /* a checksum that nobody compares */
}

/* Write a PNG whose Exif data stand before its pixels, or behind them. */
static const char *write_png(const struct bytes *exif, int behind)
{
    const char *path = folder_file(&folder, "a.png");
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = WIDE, .height = HIGH, .format = PNG_FORMAT_RGB};
    unsigned char rgb[WIDE * HIGH * 3];
    struct bytes plain, b = {.count = 0};
    size_t at;

    draw_picture(rgb);
    assert_true(png_image_write_to_file(&image, path, 0, rgb, 0, NULL));
    plain = read_back(path);
    at = behind ? plain.count - 12 : 33;
    put(&b, plain.of, at);
    put_chunk(&b, exif);
    put(&b, plain.of + at, plain.count - at);
    folder_write(path, b.of, b.count);
    return path;
}

/* Where in the stored picture the pixel lies that is seen at x, y. */
static int stored_at(unsigned orientation, int x, int y)
{
    static const int W = WIDE - 1, H = HIGH - 1;

    switch (orientation) {
    case 2:
        return y * WIDE + W - x;
    case 3:
        return (H - y) * WIDE + W - x;
    case 4:
        return (H - y) * WIDE + x;
    case 5:
        return x * WIDE + y;
    case 6:
        return (H - x) * WIDE + y;
    case 7:
        return (H - x) * WIDE + W - y;
    case 8:
        return x * WIDE + W - y;
    default:
        return y * WIDE + x;
    }
}

static void check_turned(const char *path, const decoded *stored, unsigned orientation,
                         int header_tells)
{
    ddp_faults f = {0};
    ddp_picture_header header;
    decoded d, size;

    assert_int_equal(decode_picture(path, 3, &d), 0);
    assert_int_equal(d.w, orientation < 5 ? WIDE : HIGH);
    assert_int_equal(d.h, orientation < 5 ? HIGH : WIDE);
    for (int i = 0; i < WIDE * HIGH; i++)
        if (memcmp(d.bytes + 3 * i, stored->bytes + 3 * stored_at(orientation, i % d.w, i / d.w), 3)
            != 0)
            fail_msg("%s, orientation %u: pixel %d is another", path, orientation, i);
    assert_int_equal(decode_size(path, &size), 0);
    assert_int_equal(size.w, d.w);
    assert_int_equal(size.h, d.h);
    assert_true(ddp_check_picture(&f, path, "l:1", exif_orientation, &header));
    if (header_tells) {
        assert_int_equal(header.width, d.w);
        assert_int_equal(header.height, d.h);
        assert_int_equal(header.turned, orientation > 1);
    }
    ddp_faults_release(&f);
    free(d.bytes);
}

static void each_orientation_is_turned(void **state)
{
    const struct bytes upright = exif_of(1, 0);
    decoded jpeg, png;

    (void)state;
    assert_int_equal(decode_picture(write_jpeg(&upright), 3, &jpeg), 0);
    assert_int_equal(decode_picture(write_png(&upright, 0), 3, &png), 0);
    for (unsigned orientation = 1; orientation <= 8; orientation++)
        for (int little = 0; little < 2; little++) {
            const struct bytes exif = exif_of(orientation, little);

            check_turned(write_jpeg(&exif), &jpeg, orientation, 1);
            check_turned(write_png(&exif, 0), &png, orientation, 1);
            check_turned(write_png(&exif, 1), &png, orientation, 0);
        }
    free(jpeg.bytes);
    free(png.bytes);
}

static void damaged_exif_data_turn_nothing(void **state)
{
    struct bytes exif = exif_of(6, 1), changed;
    const unsigned bad[] = {0, 9, 65535};

    (void)state;
    assert_int_equal(exif_orientation(exif.of, exif.count), 6);
    for (size_t count = 0; count < 38; count++)
        assert_int_equal(exif_orientation(exif.of, count), 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        changed = exif_of(bad[i], 0);
        assert_int_equal(exif_orientation(changed.of, changed.count), 1);
    }
    for (int at = 0; at < 12; at++)
        for (int v = 0; v < 256; v++) {
            int found;

            changed = exif;
            changed.of[at] = (unsigned char)v;
            found = exif_orientation(changed.of, changed.count);
            assert_in_range(found, 1, 8);
        }
    memset(exif.of + 4, 0xff, 4);
    assert_int_equal(exif_orientation(exif.of, exif.count), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_orientation_is_turned),
        cmocka_unit_test(damaged_exif_data_turn_nothing),
    };

    return cmocka_run_group_tests_name("exif", tests, make_folder, remove_folder);
}
