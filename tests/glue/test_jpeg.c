/* Pictures as they are loaded, against stb_image's bytes, to the last bit: JPEGs of all kinds,
 * whole, cut off anywhere, and with bytes changed. What stb_image refuses, loading refuses. */
#include "../unit/numbers.h"

#include <darknet.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 4096, CHANGES = 400 };

unsigned char *stbi_load(const char *path, int *width, int *height, int *channels, int wanted);
const char *stbi_failure_reason(void);

/* ---- files ---- */

struct bytes {
    unsigned char of[MOST];
    size_t count;
};

static char path[] = "/tmp/test-jpeg.XXXXXX";

static int make_file(void **state)
{
    int file = mkstemp(path);

    (void)state;
    return file < 0 || close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const struct bytes *b, size_t count)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(b->of, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static struct bytes read_jpeg(const char *name)
{
    char full[512];
    struct bytes b;
    FILE *file;

    (void)snprintf(full, sizeof full, "%s/%s", DDP_JPEG_CORPUS, name);
    file = fopen(full, "rb");
    if (!file)
        fail_msg("cannot read %s", full);
    b.count = fread(b.of, 1, MOST, file);
    (void)fclose(file);
    assert_in_range(b.count, 100, MOST - 1);
    return b;
}

static void for_each_file(void (*check)(const char *name, struct bytes b))
{
    DIR *folder = opendir(DDP_JPEG_CORPUS);
    int files = 0;

    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        check(entry->d_name, read_jpeg(entry->d_name));
        files++;
    }
    (void)closedir(folder);
    assert_in_range(files, 12, 100);
}

/* ---- loading ---- */

static jmp_buf refused;
static char reason[256];

static void keep_reason(const char *message)
{
    fatal_in_thread = NULL;
    (void)snprintf(reason, sizeof reason, "%s", message);
    longjmp(refused, 1);
}

/* The picture of the file, or data NULL and the sentence in reason. */
static image load(void)
{
    reason[0] = '\0';
    if (setjmp(refused))
        return (image){0};
    fatal_in_thread = keep_reason;
    {
        image im = load_image_color(path, 0, 0);

        fatal_in_thread = NULL;
        return im;
    }
}

static void expect_bytes(const char *name, image im, const unsigned char *bytes)
{
    size_t plane = (size_t)im.w * (size_t)im.h;

    for (size_t i = 0; i < 3 * plane; i++) {
        float want = (float)(bytes[i] / 255.), got = im.data[i % 3 * plane + i / 3];

        if (memcmp(&got, &want, sizeof got) != 0)
            fail_msg("%s: channel %zu of pixel %zu is %.9g, not %.9g", name, i % 3, i / 3,
                     (double)got, (double)want);
    }
}

/* The file gives what stb_image makes of it, or is refused with its words. Returns whether it is a
 * picture. */
static int check_loading(const char *name)
{
    int w, h, channels;
    unsigned char *bytes = stbi_load(path, &w, &h, &channels, 3);
    image im = load();

    if (bytes) {
        if (!im.data)
            fail_msg("%s is refused: %s", name, reason);
        assert_int_equal(im.w, w);
        assert_int_equal(im.h, h);
        expect_bytes(name, im, bytes);
    } else {
        char want[256];

        (void)snprintf(want, sizeof want, "Cannot load image \"%s\": %s", path,
                       stbi_failure_reason());
        if (im.data)
            fail_msg("%s is loaded, where stb_image says %s", name, stbi_failure_reason());
        assert_string_equal(reason, want);
    }
    free(bytes);
    free_image(im);
    return bytes != NULL;
}

/* ---- tests ---- */

static void check_whole(const char *name, struct bytes b)
{
    write_file(&b, b.count);
    assert_true(check_loading(name));
}

static void whole_files(void **state)
{
    (void)state;
    for_each_file(check_whole);
}

static void check_cut(const char *name, struct bytes b)
{
    int refused_some = 0;

    for (size_t count = 0; count < b.count; count += count < 700 ? 1 : 13) {
        write_file(&b, count);
        refused_some += !check_loading(name);
    }
    assert_greater(refused_some, 100);
}

static void files_that_are_cut_off(void **state)
{
    (void)state;
    for_each_file(check_cut);
}

static uint32_t random_state = 7;

static uint32_t next(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

/* Sizes of the frame stay: a picture of 65,535 x 65,535 would take its time. */
static void check_changed(const char *name, struct bytes b)
{
    for (int i = 0; i < CHANGES; i++) {
        struct bytes changed = b;
        int frame = 0;

        for (uint32_t n = 1 + next(3); n > 0; n--) {
            size_t at = 2 + next((uint32_t)b.count - 2);

            for (size_t k = at < 9 ? 0 : at - 9; k < at; k++)
                frame |=
                    b.of[k] == 0xff && (b.of[k + 1] == 0xc0 || b.of[k + 1] == 0xc2) && at - k < 9;
            if (!frame)
                changed.of[at] = (unsigned char)next(256);
        }
        write_file(&changed, changed.count);
        (void)check_loading(name);
    }
}

static void files_with_bytes_changed(void **state)
{
    (void)state;
    for_each_file(check_changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files),
        cmocka_unit_test(files_that_are_cut_off),
        cmocka_unit_test(files_with_bytes_changed),
    };

    return cmocka_run_group_tests_name("jpeg", tests, make_file, remove_file);
}
