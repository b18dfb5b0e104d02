/* ddp-test: quick */
/* The parts of a path. */
#include "base/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *path, const char *folder, const char *name)
{
    char *found = ddp_path_folder(path);

    assert_string_equal(found, folder);
    assert_string_equal(ddp_path_name(path), name);
    free(found);
}

static void a_path_is_cut_at_its_last_slash(void **state)
{
    (void)state;
    expect("a/b/c.txt", "a/b", "c.txt");
    expect("c.txt", ".", "c.txt");
    expect("/c.txt", "/", "c.txt");
    expect("a/b/", "a/b", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_path_is_cut_at_its_last_slash)};

    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
