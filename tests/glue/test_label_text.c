/* ddp-test: quick */
/* Names of classes as letters: UTF-8 of each length, bytes that are none, and a picture of any
 * text, without a read beyond the letters. */
#include "../unit/numbers.h"

#include "layers/images/label_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIZES = 8, LETTERS = 128, FIRST = 32, LAST = 126, WIDE = 9, HIGH = 16 };

static image *letters[SIZES];

/* Each size's letters lie before memory that nobody may read, and behind such memory. */
static int make_letters(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)state;
    for (int s = 0; s < SIZES; s++) {
        size_t room = (LETTERS * sizeof(image) + page - 1) / page * page;
        char *all = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (all == MAP_FAILED || mprotect(all + page, room, PROT_READ | PROT_WRITE))
            return 1;
        letters[s] = (image *)(all + page);
        for (int i = FIRST; i <= LAST; i++) {
            letters[s][i] = make_image(WIDE, HIGH, 1);
            for (int k = 0; k < WIDE * HIGH; k++)
                letters[s][i].data[k] = (float)(i * 31 % (k + 2)) / 200;
        }
    }
    return 0;
}

static void expect_letters(const char *text, const unsigned *wanted)
{
    unsigned letter;

    do {
        letter = label_next_letter(&text);
        assert_int_equal(letter, *wanted);
    } while (*wanted++);
    assert_int_equal(*text, 0);
}

#define EXPECT(text, ...) expect_letters(text, (const unsigned[]){__VA_ARGS__, 0})

static void letters_of_each_length(void **state)
{
    (void)state;
    EXPECT("a~ z", 'a', '~', ' ', 'z');
    EXPECT("gr\xc3\xbcn", 'g', 'r', 0xfc, 'n');
    EXPECT("\xd1\x80\xe7\x8a\xac\xf0\x9f\x90\x95", 0x440, 0x72ac, 0x1f415);
    EXPECT("a\x1b\n\x7f\xc2\x9b", 'a');
}

static void bytes_that_are_no_letter(void **state)
{
    (void)state;
    EXPECT("\xff\x80"
           "a\xc0\xaf",
           '?', '?', 'a', '?', '?');
    EXPECT("\xe7\x8a", '?', '?');
    EXPECT("\xc3z\xf8", '?', 'z', '?');
}

static void expect_picture(const char *text, const char *like)
{
    for (int size = 0; size < 100; size += 33) {
        image found = get_label(letters, (char *)text, size);
        image wanted = get_label(letters, (char *)like, size);

        assert_int_equal(found.w, wanted.w);
        assert_int_equal(found.h, wanted.h);
        assert_memory_equal(found.data, wanted.data,
                            (size_t)(found.w * found.h * found.c) * sizeof(float));
        free_image(found);
        free_image(wanted);
    }
}

static void what_cannot_be_drawn_is_a_question_mark(void **state)
{
    (void)state;
    expect_picture("a\xff", "a?");
    expect_picture("\xf4\x8f\xbf\xbf!", "?!"); /* a letter of nobody's */
}

/* With FreeType and a font a letter is drawn as one, else as '?'. */
static void other_scripts_are_drawn_by_a_font(void **state)
{
    image letter = label_letter(0x440, 40, 3), found, unknown;
    float ink = 0;

    (void)state;
    if (letter.w == 0) {
        expect_picture("\xd1\x80", "?");
        return;
    }
    assert_int_equal(letter.h, 40);
    assert_in_range(letter.w, 10, 60);
    for (int i = 0; i < letter.w * letter.h; i++) {
        assert_at_least(letter.data[i], 0);
        assert_at_most(letter.data[i], 1);
        ink += 1 - letter.data[i];
    }
    assert_in_range((int)ink, 40, letter.w * letter.h / 2);
    found = get_label(letters, "\xd1\x80", 80);
    unknown = get_label(letters, "?", 80);
    assert_true(found.w != unknown.w
                || memcmp(found.data, unknown.data, (size_t)(found.w * found.h) * sizeof(float))
                       != 0);
    free_image(found);
    free_image(unknown);
    free_image(letter);
}

static void any_bytes_make_a_picture(void **state)
{
    uint32_t random = 5;
    char text[24];

    (void)state;
    for (int i = 0; i < 3000; i++) {
        size_t n = (size_t)i % sizeof text;

        for (size_t k = 0; k < n; k++) {
            random = random * 1664525U + 1013904223U;
            text[k] = (char)(random >> 24 ? random >> 24 : 1);
        }
        text[n < sizeof text ? n : sizeof text - 1] = 0;
        free_image(get_label(letters, text, (int)(random >> 8) % 120));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_of_each_length),
        cmocka_unit_test(bytes_that_are_no_letter),
        cmocka_unit_test(what_cannot_be_drawn_is_a_question_mark),
        cmocka_unit_test(other_scripts_are_drawn_by_a_font),
        cmocka_unit_test(any_bytes_make_a_picture),
    };

    return cmocka_run_group_tests_name("label text", tests, make_letters, NULL);
}
