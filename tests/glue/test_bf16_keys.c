/* ddp-test: quick */
/* layers/bf16/bf16_keys.h: bf16 knows each key of the layers that it runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layers/bf16/bf16_keys.h"
#include "layers/cfg_keys.h"

#include <string.h>

enum { SECTIONS = sizeof bf16_sections / sizeof *bf16_sections };

static int has_word(const char *words, const char *word, size_t length)
{
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return 1;
    return 0;
}

/* Fails if a key of `from` is in neither list of `in`. */
static void expect_keys(const char *section, const char *from, const char *in, const char *or_in)
{
    char words[512], *rest = words;

    assert_true(strlen(from) < sizeof words);
    (void)strcpy(words, from);
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        if (*word != '\0' && !has_word(in, word, strlen(word))
            && !has_word(or_in, word, strlen(word)))
            fail_msg("%s has the key %s in one of cfg_keys.c and bf16_keys.h alone", section, word);
}

static void bf16_knows_every_key_of_the_layers_that_it_runs(void **state)
{
    (void)state;
    for (int i = 0; i < SECTIONS; i++) {
        const bf16_keys *b = &bf16_sections[i];
        const cfg_section *s = cfg_find_section(b->section);

        assert_non_null(s);
        assert_int_equal(s->type, b->type);
        expect_keys(b->section, s->keys, b->in_bf16, b->in_float32);
        expect_keys(b->section, s->v4_keys, b->in_bf16, b->in_float32);
        expect_keys(b->section, b->in_bf16, s->keys, s->v4_keys);
        expect_keys(b->section, b->in_float32, s->keys, s->v4_keys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bf16_knows_every_key_of_the_layers_that_it_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
