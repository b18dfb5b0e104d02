/* ddp-test: quick */
/* Pictures of each kind, whole, cut off anywhere, and with bytes changed: what they become, and
 * that what is damaged is refused. */
#include "../unit/numbers.h"

#include "layers/images/decode.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <png.h>

#include <cmocka.h>

enum { MOST = 1 << 16, CHANGES = 400, SIDE = 13 };

/* ---- files ---- */

struct bytes {
    unsigned char of[MOST];
    size_t count;
};

static int file;
static char path[32]; /* of it; in memory, for a disk would take minutes */

static int make_file(void **state)
{
    (void)state;
    file = memfd_create("picture", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return file < 0;
}

static int remove_file(void **state)
{
    (void)state;
    return close(file);
}

static void write_file(const void *bytes, size_t count)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

static void read_back(const char *from, struct bytes *b)
{
    FILE *f = fopen(from, "rb");

    if (!f)
        fail_msg("cannot read %s", from);
    b->count = fread(b->of, 1, MOST, f);
    (void)fclose(f);
    assert_in_range(b->count, 50, MOST - 1);
}

static void for_each_jpeg(void (*check)(const char *name, const struct bytes *b))
{
    DIR *folder = opendir(DDP_JPEG_CORPUS);
    static struct bytes b;
    int files = 0;

    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char full[512];

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(full, sizeof full, "%s/%s", DDP_JPEG_CORPUS, entry->d_name);
        read_back(full, &b);
        check(entry->d_name, &b);
        files++;
    }
    (void)closedir(folder);
    assert_in_range(files, 12, 100);
}

static void expect_refused(const char *what, const char *why)
{
    decoded d;

    if (decode_picture(path, 3, &d) == 0)
        fail_msg("%s is decoded", what);
    assert_null(d.bytes);
    if (!strstr(d.note, why))
        fail_msg("%s: \"%s\", not \"%s\"", what, d.note, why);
}

/* Decoded twice it is the same, or refused with the same words. Returns whether it is a picture. */
static int check_same(const char *name)
{
    decoded a, b;
    int failed = decode_picture(path, 3, &a);

    assert_int_equal(decode_picture(path, 3, &b), failed);
    assert_string_equal(a.note, b.note);
    if (!failed) {
        assert_int_equal(a.w, b.w);
        assert_int_equal(a.h, b.h);
        if (memcmp(a.bytes, b.bytes, (size_t)a.w * (size_t)a.h * 3) != 0)
            fail_msg("%s: other bytes the second time", name);
    } else {
        assert_null(a.bytes);
        assert_string_not_equal(a.note, "");
    }
    free(a.bytes);
    free(b.bytes);
    return !failed;
}

/* ---- damage ---- */

static void check_whole(const char *name, const struct bytes *b)
{
    decoded d, size;

    write_file(b->of, b->count);
    if (decode_picture(path, 0, &d))
        fail_msg("%s: %s", name, d.note);
    assert_string_equal(d.note, "");
    assert_int_equal(decode_size(path, &size), 0);
    assert_int_equal(size.w, d.w);
    assert_int_equal(size.h, d.h);
    assert_int_equal(size.c, d.c);
    assert_null(size.bytes);
    assert_int_equal(d.c, strncmp(name, "grey", 4) == 0 ? 1 : 3);
    free(d.bytes);
}

static void check_cut(const char *name, const struct bytes *b)
{
    for (size_t count = 0; count < b->count; count += count < 700 ? 1 : 13) {
        write_file(b->of, count);
        if (check_same(name))
            fail_msg("%s: %zu of %zu bytes are a picture", name, count, b->count);
    }
}

static uint32_t random_state = 7;

static uint32_t next(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

/* Sizes of the frame stay: a picture of 65,535 x 65,535 would take its time. */
static int is_of_frame(const struct bytes *b, size_t at)
{
    for (size_t k = at < 9 ? 0 : at - 9; k < at; k++)
        if (b->of[k] == 0xff && (b->of[k + 1] == 0xc0 || b->of[k + 1] == 0xc2))
            return 1;
    return 0;
}

static void check_changed(const char *name, const struct bytes *b)
{
    static struct bytes changed;

    for (int i = 0; i < CHANGES; i++) {
        changed = *b;
        for (uint32_t n = 1 + next(3); n > 0; n--) {
            size_t at = 2 + next((uint32_t)b->count - 2);

            if (!is_of_frame(b, at))
                changed.of[at] = (unsigned char)next(256);
        }
        write_file(changed.of, changed.count);
        (void)check_same(name);
    }
}

static void jpegs_that_are_whole(void **state)
{
    (void)state;
    for_each_jpeg(check_whole);
}

static void jpegs_that_are_cut_off(void **state)
{
    (void)state;
    for_each_jpeg(check_cut);
}

static void jpegs_with_bytes_changed(void **state)
{
    (void)state;
    for_each_jpeg(check_changed);
}

/* Bytes that nobody wants before the end are no reason to refuse it. */
static void check_warned(const char *name, const struct bytes *b)
{
    static struct bytes more;
    decoded d, plain;

    if (strcmp(name, "444.jpg") != 0)
        return;
    more = *b;
    assert_int_equal(b->of[b->count - 2], 0xff);
    memset(more.of + b->count - 2, 7, 10);
    more.of[b->count + 8] = 0xff;
    more.of[b->count + 9] = 0xd9;
    write_file(more.of, b->count + 10);
    assert_int_equal(decode_picture(path, 3, &d), 0);
    assert_non_null(strstr(d.note, " extraneous bytes before marker 0xd9"));
    write_file(b->of, b->count);
    assert_int_equal(decode_picture(path, 3, &plain), 0);
    assert_memory_equal(d.bytes, plain.bytes, (size_t)d.w * (size_t)d.h * 3);
    free(d.bytes);
    free(plain.bytes);
}

static void what_a_decoder_warns_of_is_noted(void **state)
{
    (void)state;
    for_each_jpeg(check_warned);
}

/* ---- what becomes of them ---- */

int stbi_write_jpg(const char *name, int w, int h, int channels, const void *bytes, int quality);

static int red_at(int x, int y)
{
    return 10 * x + 5 * y;
}

static void a_jpeg_has_its_colours(void **state)
{
    unsigned char bytes[SIDE * SIDE * 3];
    decoded d, grey;

    (void)state;
    for (int i = 0; i < SIDE * SIDE; i++) {
        int v = red_at(i % SIDE, i / SIDE);

        bytes[3 * i] = (unsigned char)v;
        bytes[3 * i + 1] = (unsigned char)(255 - v);
        bytes[3 * i + 2] = 90;
    }
    assert_true(stbi_write_jpg(path, SIDE, SIDE, 3, bytes, 100));
    assert_int_equal(decode_picture(path, 3, &d), 0);
    assert_int_equal(decode_picture(path, 1, &grey), 0);
    assert_int_equal(grey.c, 1);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const unsigned char *p = d.bytes + 3 * i;

        for (int k = 0; k < 3; k++)
            assert_in_range(p[k] + 4, bytes[3 * i + k], bytes[3 * i + k] + 8);
        assert_int_equal(grey.bytes[i], (77 * p[0] + 150 * p[1] + 29 * p[2]) >> 8);
    }
    free(d.bytes);
    free(grey.bytes);
}

struct png_kind {
    int depth, type, interlaced;
};

static unsigned sample(int x, int y, int c, int depth)
{
    return (unsigned)(x * 7919 + y * 104729 + c * 1299709) >> 3 & ((1u << depth) - 1);
}

/* A row as the file has it. */
static void pack_row(const struct png_kind *k, int channels, int y, unsigned char *row)
{
    int at = 0;

    memset(row, 0, (size_t)SIDE * 8);
    for (int x = 0; x < SIDE; x++)
        for (int c = 0; c < channels; c++, at += k->depth) {
            unsigned v = sample(x, y, c, k->depth);

            if (k->depth == 16) {
                row[at / 8] = (unsigned char)(v >> 8);
                row[at / 8 + 1] = (unsigned char)v;
            } else {
                row[at / 8] |= (unsigned char)(v << (8 - k->depth - at % 8));
            }
        }
}

static int write_png(const struct png_kind *k)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *f = fopen(path, "wb");
    png_color palette[256];
    unsigned char row[SIDE * 8];
    int channels;

    assert_non_null(f);
    png_init_io(png, f);
    png_set_IHDR(png, info, SIDE, SIDE, k->depth, k->type,
                 k->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    for (int i = 0; i < 256; i++)
        palette[i] = (png_color){(png_byte)i, (png_byte)(255 - i), (png_byte)(3 * i)};
    if (k->type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 1 << k->depth);
    png_write_info(png, info);
    channels = png_get_channels(png, info);
    for (int pass = png_set_interlace_handling(png); pass > 0; pass--)
        for (int y = 0; y < SIDE; y++) {
            pack_row(k, channels, y, row);
            png_write_row(png, row);
        }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    (void)fclose(f);
    return channels;
}

/* Return a value as 8 bits: the upper ones of 16, or all of fewer spread out. */
static int byte_of(unsigned v, int depth)
{
    return depth == 16 ? (int)(v >> 8) : (int)(v * 255 / ((1u << depth) - 1));
}

static int wanted(const struct png_kind *k, int channels, int x, int y, int c)
{
    if (k->type == PNG_COLOR_TYPE_PALETTE) {
        unsigned i = sample(x, y, 0, k->depth);

        return (unsigned char)(c == 0 ? i : c == 1 ? 255 - i : 3 * i);
    }
    return byte_of(sample(x, y, channels < 3 ? 0 : c, k->depth), k->depth);
}

static void check_png(const struct png_kind *k)
{
    int channels = write_png(k);
    decoded d;
    static struct bytes b;

    if (decode_picture(path, 3, &d))
        fail_msg("depth %d, type %d: %s", k->depth, k->type, d.note);
    assert_string_equal(d.note, "");
    for (int i = 0; i < 3 * SIDE * SIDE; i++) {
        int want = wanted(k, channels, i / 3 % SIDE, i / 3 / SIDE, i % 3);

        if (d.bytes[i] != want)
            fail_msg("depth %d, type %d: value %d is %d, not %d", k->depth, k->type, i, d.bytes[i],
                     want);
    }
    free(d.bytes);
    read_back(path, &b);
    for (size_t count = 0; count < b.count; count++) {
        write_file(b.of, count);
        if (check_same("png"))
            fail_msg("depth %d, type %d: %zu of %zu bytes are a picture", k->depth, k->type, count,
                     b.count);
    }
    for (int i = 0; i < 200; i++) {
        struct bytes changed = b;

        changed.of[33 + next((uint32_t)b.count - 33)] = (unsigned char)next(256);
        write_file(changed.of, b.count);
        (void)check_same("png");
    }
}

static void a_png_of_each_kind(void **state)
{
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_PALETTE,
                                PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB_ALPHA};

    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (int depth = 1; depth <= 16; depth *= 2)
            for (int interlaced = 0; interlaced < 2; interlaced++) {
                int allowed = types[t] == PNG_COLOR_TYPE_GRAY      ? 1
                              : types[t] == PNG_COLOR_TYPE_PALETTE ? depth <= 8
                                                                   : depth >= 8;

                if (allowed)
                    check_png(&(struct png_kind){depth, types[t], interlaced});
            }
}

/* ---- what stb_image is left with ---- */

#define REFUSED(bytes, why)                                                                        \
    write_file((bytes), sizeof(bytes) - 1);                                                        \
    expect_refused(#bytes, (why))

static const char cut_bmp[] = "BM\0\0\0\0\0\0\0\0\66\0\0\0\50\0\0\0\2\0\0\0\2\0\0\0\1\0\30\0"
                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3";
static const char bmp_of_wide_masks[] =
    "BM\0\0\0\0\0\0\0\0\66\0\0\0\50\0\0\0\1\0\0\0\1\0\0\0\1\0\40\0"
    "\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0\0\xff\xff\0\0\0\xff\xff\1\2\3\4";
static const char tga_without_palette[] = "\0\1\1\0\0\0\0\30\0\0\0\0\1\0\1\0\10\0\5";
static const char gif_frame_without_columns[] =
    "GIF89a\1\0\1\0\200\0\0\1\2\3\4\5\6,\1\0\0\0\0\0\1\0\0\2\2D\1\0;";
static const char huge_gif[] =
    "GIF89a\xff\xff\xff\xff\200\0\0\1\2\3\4\5\6,\0\0\0\0\1\0\1\0\0\2\2D\1\0;";
static const char gif_of_wide_codes[] =
    "GIF89a\1\0\1\0\200\0\0\1\2\3\4\5\6,\0\0\0\0\1\0\1\0\0\15\2D\1\0;";
static const char hdr_without_end[] =
    "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 8\n\2\2\0\10\0";
static const char huge_ppm[] = "P6 99999999999 99999999999 255\nabc";
static const char cut_ppm[] = "P6 2 2 255\nabcdefghi";
static const char huge_psd[] = "8BPS\0\1\0\0\0\0\0\0\0\20\37\377\377\377\0\0\0\1\0\10\0\3"
                               "\0\0\0\0\0\0\0\0\0\0\0\0\0\1";

static void damaged_pictures_of_other_kinds(void **state)
{
    (void)state;
    REFUSED(cut_bmp, "cut off");
    REFUSED(bmp_of_wide_masks, "bad masks");
    REFUSED(tga_without_palette, "bad palette");
    REFUSED(huge_gif, "too large");
    REFUSED(hdr_without_end, "corrupt");
    REFUSED(gif_of_wide_codes, "damaged");
    REFUSED(huge_ppm, "too large");
    REFUSED(cut_ppm, "cut off");
    REFUSED(huge_psd, "too large");
    write_file(gif_frame_without_columns, sizeof gif_frame_without_columns - 1);
    (void)check_same("gif_frame_without_columns");
    write_file("", 0);
    expect_refused("an empty file", "unknown image type");
}

static void a_ppm_and_a_bitmap_of_one_bit(void **state)
{
    static const char ppm[] = "P6 2 1 255\nabcdef";
    static const char bmp[] = "BM\0\0\0\0\0\0\0\0\76\0\0\0\50\0\0\0\10\0\0\0\2\0\0\0\1\0\1\0"
                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                              "\0\0\0\0\377\377\377\0\125\0\0\0\252\0\0\0";
    decoded d;

    (void)state;
    write_file(ppm, sizeof ppm - 1);
    assert_int_equal(decode_picture(path, 4, &d), 0);
    assert_memory_equal(d.bytes,
                        "abc\xff"
                        "def\xff",
                        8);
    free(d.bytes);
    write_file(bmp, sizeof bmp - 1);
    assert_int_equal(decode_picture(path, 1, &d), 0);
    for (int i = 0; i < 16; i++)
        assert_int_equal(d.bytes[i], (i + i / 8) % 2 ? 0 : 255);
    free(d.bytes);
}

/* ---- files ---- */

static void files_that_are_none(void **state)
{
    decoded d;

    (void)state;
    assert_int_equal(decode_picture("/tmp/no/such/file", 3, &d), -1);
    assert_string_equal(d.note, "No such file or directory");
    assert_int_equal(decode_picture("/tmp", 3, &d), -1);
    assert_string_equal(d.note, "Is a directory");
}

/* Room for 64 MiB more than the process has now, and a file of 256. */
static void a_file_that_memory_does_not_hold(void **state)
{
    const rlim_t mib = 1 << 20;
    struct rlimit before, small;
    unsigned long pages;
    FILE *sizes = fopen("/proc/self/statm", "r");
    decoded d;

    (void)state;
    assert_non_null(sizes);
    assert_int_equal(fscanf(sizes, "%lu", &pages), 1);
    assert_int_equal(fclose(sizes), 0);
    assert_int_equal(ftruncate(file, (off_t)(256 * mib)), 0);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = (struct rlimit){pages * (rlim_t)sysconf(_SC_PAGESIZE) + 64 * mib, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    assert_int_equal(decode_picture(path, 3, &d), -1);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_string_equal(d.note, strerror(ENOMEM));
}

/* convert() and turn_upright() make the new pixels in a copy that shows the old ones. */
static void too_many_values_free_no_old_pixels(void **state)
{
    unsigned char *old = malloc(1);
    decoded d = {.w = 30000, .h = 30000, .c = 3, .bytes = old};

    (void)state;
    assert_int_equal(decode_allocate(&d), -1);
    assert_null(d.bytes);
    assert_string_equal(d.note, "it has more values than an int counts");
    free(old); /* the first time */
}

static void decoders_are_named(void **state)
{
    (void)state;
    assert_non_null(strstr(decoders(), "libjpeg"));
    assert_non_null(strstr(decoders(), ", libpng "));
    assert_in_range(strlen(decoders()), 20, 63); /* a value of a state file */
    assert_string_equal(decoders(), decoders());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jpegs_that_are_whole),
        cmocka_unit_test(jpegs_that_are_cut_off),
        cmocka_unit_test(jpegs_with_bytes_changed),
        cmocka_unit_test(what_a_decoder_warns_of_is_noted),
        cmocka_unit_test(a_jpeg_has_its_colours),
        cmocka_unit_test(a_png_of_each_kind),
        cmocka_unit_test(damaged_pictures_of_other_kinds),
        cmocka_unit_test(a_ppm_and_a_bitmap_of_one_bit),
        cmocka_unit_test(files_that_are_none),
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* which need all addresses */
        cmocka_unit_test(a_file_that_memory_does_not_hold),
#endif
        cmocka_unit_test(too_many_values_free_no_old_pixels),
        cmocka_unit_test(decoders_are_named),
    };

    return cmocka_run_group_tests_name("decode", tests, make_file, remove_file);
}
