/* ddp-test: quick */
/* Messages in the wire format of protocol buffers, byte for byte. */
#include "base/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(ddp_protobuf *m, const char *bytes, size_t count)
{
    assert_false(m->failed);
    assert_int_equal(m->count, count);
    assert_memory_equal(m->bytes, bytes, count);
    ddp_protobuf_release(m);
    assert_null(m->bytes);
}

#define EXPECT(m, bytes) expect(m, bytes, sizeof(bytes) - 1)

static void whole_numbers_are_varints(void **state)
{
    ddp_protobuf m = {0};

    (void)state;
    ddp_protobuf_put_int(&m, 1, 0);
    ddp_protobuf_put_int(&m, 2, 127);
    ddp_protobuf_put_int(&m, 3, 150);
    ddp_protobuf_put_int(&m, 20, -1);
    EXPECT(&m, "\x08\x00\x10\x7f\x18\x96\x01\xa0\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

static void real_numbers_are_little_endian(void **state)
{
    ddp_protobuf m = {0};

    (void)state;
    ddp_protobuf_put_float(&m, 2, 1);
    ddp_protobuf_put_double(&m, 1, -2);
    EXPECT(&m, "\x15\x00\x00\x80\x3f\x09\x00\x00\x00\x00\x00\x00\x00\xc0");
}

static void messages_have_their_length_in_front(void **state)
{
    ddp_protobuf inner = {0}, fields = {0}, m = {0};

    (void)state;
    ddp_protobuf_put_text(&inner, 2, "testing");
    ddp_protobuf_put_message(&m, 7, &inner);
    ddp_protobuf_put_int(&fields, 1, 5);
    ddp_protobuf_append(&m, &fields);
    ddp_protobuf_begin_bytes(&m, 7, 300);
    assert_null(inner.bytes);
    assert_null(fields.bytes);
    EXPECT(&m, "\x3a\x09\x12\x07testing\x08\x05\x3a\xac\x02");
}

static void a_message_grows_as_far_as_it_must(void **state)
{
    enum { BYTES = 100000 };
    static char bytes[BYTES];
    ddp_protobuf m = {0};

    (void)state;
    memset(bytes, 'x', BYTES);
    ddp_protobuf_put_bytes(&m, 1, bytes, 3);
    ddp_protobuf_put_bytes(&m, 1, bytes, BYTES);
    assert_int_equal(m.count, 5 + 4 + BYTES);
    assert_memory_equal(m.bytes + 9, bytes, BYTES);
    ddp_protobuf_release(&m);
}

static void a_message_of_one_that_failed_has_failed(void **state)
{
    ddp_protobuf inner = {.failed = 1}, m = {0};

    (void)state;
    ddp_protobuf_put_message(&m, 1, &inner);
    assert_true(m.failed);
    ddp_protobuf_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_varints),
        cmocka_unit_test(real_numbers_are_little_endian),
        cmocka_unit_test(messages_have_their_length_in_front),
        cmocka_unit_test(a_message_grows_as_far_as_it_must),
        cmocka_unit_test(a_message_of_one_that_failed_has_failed),
    };

    return cmocka_run_group_tests_name("protobuf", tests, NULL, NULL);
}
