/* ddp-test: quick */
/* State files: what is written is read, and nothing else is. */
#include "checkpoint/checkpoint.h"
#include "folder.h"
#include "numbers.h"
#include "toy_checkpoint.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <xxhash.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static struct folder folder;

/* The bytes of the toy's state file. */
static char *state_file;
static size_t state_bytes;

static int write_state_file(void **state)
{
    struct toy_checkpoint toy;
    const char *path;
    ddp_file_checksum sum;
    ddp_error err;
    ddp_file *f;
    int renamed;

    (void)state;
    folder_open(&folder);
    path = folder_file(&folder, "toy.state");
    toy_checkpoint_make(&toy, "toy", 7);
    if (ddp_file_create(&f, path, &err) || ddp_checkpoint_write(&toy.checkpoint, f, &err)
        || ddp_file_finish(f, &sum, &err) || ddp_file_publish(f, &renamed, &err))
        return -1;
    state_file = folder_read(path, &state_bytes);
    return 0;
}

static int free_state_file(void **state)
{
    (void)state;
    free(state_file);
    folder_close(&folder);
    return 0;
}

/* A copy with nothing behind it that could be read by mistake. */
static char *copy(size_t size)
{
    char *bytes = malloc(size ? size : 1);

    if (!bytes)
        abort();
    memcpy(bytes, state_file, size);
    return bytes;
}

/* Returns 0 if it is refused. Whatever is accepted is looked at, byte by byte. */
static int parses(char *bytes, size_t size)
{
    ddp_checkpoint c;
    ddp_error err = {0};
    uint64_t sum = 0;
    ddp_status st = ddp_checkpoint_parse(&c, bytes, size, &err);

    if (st) {
        assert_int_equal(st, DDP_ERR_FORMAT);
        assert_greater(strlen(err.text), 0);
        assert_null(c.arrays);
        return 0;
    }
    sum = XXH3_64bits(c.cfg, c.cfg_bytes);
    for (size_t i = 0; i < c.array_count; i++) {
        float *floats = malloc(c.arrays[i].count * sizeof *floats + 1);

        if (!floats)
            abort();
        assert_int_equal(ddp_checkpoint_get(&c, i, 0, floats, c.arrays[i].count, &err), DDP_OK);
        sum += strlen(c.arrays[i].part) + strlen(c.arrays[i].name)
               + XXH3_64bits(floats, c.arrays[i].count * sizeof *floats);
        free(floats);
    }
    ddp_checkpoint_release(&c);
    return sum != 1;
}

static void what_was_written_is_read(void **state)
{
    ddp_checkpoint c;
    ddp_checkpoint_metadata metadata;
    ddp_error err;
    const char *path = folder_file(&folder, "toy.state");

    (void)state;
    assert_int_equal(ddp_checkpoint_read(&c, path, &err), DDP_OK);
    toy_checkpoint_expect(&c, "toy", 7);
    assert_int_equal(ddp_checkpoint_peek(&metadata, path, &err), DDP_OK);
    assert_memory_equal(&metadata, &c.metadata, sizeof metadata);
    ddp_checkpoint_release(&c);
}

/* ---- from a source ---- */

enum { LONG = 2 * DDP_CHECKPOINT_BLOCK + 17, LONG_ARRAYS = 3 };

struct source {
    const ddp_checkpoint_array *arrays;
    int asked, last_array;
    size_t next, most;
};

static ddp_status give(void *ctx, size_t key, size_t at, float *block, size_t count, ddp_error *err)
{
    struct source *s = ctx;

    (void)err;
    if (s->last_array != (int)key)
        s->next = 0;
    assert_at_least((int)key, s->last_array);
    assert_number_equal(at, s->next);
    s->last_array = (int)key;
    s->next = at + count;
    s->most = count > s->most ? count : s->most;
    s->asked++;
    memcpy(block, (float *)s->arrays[key].data + at, count * sizeof *block);
    return DDP_OK;
}

static ddp_status write_it(const ddp_checkpoint *c, const char *path, ddp_error *err)
{
    ddp_file_checksum sum;
    ddp_file *f;
    int renamed;

    assert_int_equal(ddp_file_create(&f, path, err), DDP_OK);
    if (ddp_checkpoint_write(c, f, err) || ddp_file_finish(f, &sum, err)) {
        ddp_file_abandon(f);
        return err->code;
    }
    return ddp_file_publish(f, &renamed, err);
}

/* Three long arrays; the first and the last also without data, as a source has them. */
struct sourced {
    float *memory;
    ddp_checkpoint_array arrays[LONG_ARRAYS], bare[LONG_ARRAYS];
    struct source from;
    ddp_checkpoint_source source;
    ddp_checkpoint checkpoint;
};

static void sourced_open(struct sourced *s)
{
    *s = (struct sourced){.memory = malloc(LONG_ARRAYS * LONG * sizeof(float))};
    assert_non_null(s->memory);
    for (size_t i = 0; i < LONG_ARRAYS * LONG; i++)
        s->memory[i] = (float)i / 3;
    for (int i = 0; i < LONG_ARRAYS; i++) {
        s->arrays[i] = (ddp_checkpoint_array){.layer = i,
                                              .part = "weights",
                                              .name = "m",
                                              .count = LONG,
                                              .data = s->memory + i * LONG,
                                              .key = (size_t)i};
        s->bare[i] = s->arrays[i];
        s->bare[i].data = i == 1 ? s->bare[i].data : NULL;
    }
    s->from = (struct source){.arrays = s->arrays, .last_array = -1};
    s->source = (ddp_checkpoint_source){give, &s->from};
    s->checkpoint = (ddp_checkpoint){.cfg = "[net]\n",
                                     .cfg_bytes = 6,
                                     .array_count = LONG_ARRAYS,
                                     .arrays = s->arrays,
                                     .source = &s->source};
}

static void what_comes_from_a_source_makes_the_same_file(void **state)
{
    size_t bytes[2];
    struct sourced s;
    ddp_error err;
    char *made[2];

    (void)state;
    sourced_open(&s);
    for (int i = 0; i < 2; i++) {
        const char *path = folder_file(&folder, "long.state");

        s.checkpoint.arrays = i ? s.bare : s.arrays;
        assert_int_equal(write_it(&s.checkpoint, path, &err), DDP_OK);
        made[i] = folder_read(path, &bytes[i]);
        assert_int_equal(s.from.asked, i ? 6 : 0);
    }
    assert_int_equal(s.from.most, DDP_CHECKPOINT_BLOCK);
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(made[0], made[1], bytes[0]);
    free(made[0]);
    free(made[1]);
    free(s.memory);
}

static void a_disk_that_is_full_asks_a_source_for_no_more(void **state)
{
    struct rlimit before, now;
    struct sourced s;
    ddp_error err;

    (void)state;
    sourced_open(&s);
    s.checkpoint.arrays = s.bare;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    now = before;
    now.rlim_cur = 100000;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
    assert_int_equal(write_it(&s.checkpoint, folder_file(&folder, "full.state"), &err), DDP_ERR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_non_null(strstr(err.text, "full.state: File too large"));
    assert_in_range(s.from.asked, 1, 3);
    free(s.memory);
}

static void header_is_text(void **state)
{
    const char *want = "darknet-ddp state 1\nbase toy\nsaved_at_ns 0\nstep 7\nseen 448\nt 0\n"
                       "seed 18446744073709551615\nepoch 0\nposition 0\nlist_count 0\n"
                       "list_hash 0000000000abcdef\nwidth 0\nheight 0\nranks 0\n"
                       "average_loss 0x1.2aaaaap+1\nvalues_hash 0000000000000000\n"
                       "weights_bytes 0\nweights_hash 0000000000000000\ncfg_bytes 14\narrays 3\n"
                       "body_bytes 242\noption exact on\noption batch a whole one a rank\n"
                       "header_hash ";

    (void)state;
    assert_memory_equal(state_file, want, strlen(want));
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < state_bytes; size++) {
        char *bytes = copy(size);

        if (parses(bytes, size))
            fail_msg("the first %zu of %zu bytes are taken for a state file", size, state_bytes);
        free(bytes);
    }
}

static void every_flipped_bit_is_refused(void **state)
{
    char *bytes = copy(state_bytes);

    (void)state;
    for (size_t bit = 0; bit < state_bytes * 8; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (parses(bytes, state_bytes))
            fail_msg("bit %zu of byte %zu may be flipped", bit % 8, bit / 8);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(parses(bytes, state_bytes));
    free(bytes);
}

static void bytes_behind_the_end_are_refused(void **state)
{
    char *bytes = calloc(1, state_bytes + 9);

    (void)state;
    for (size_t more = 1; more < 10; more++) {
        memcpy(bytes, state_file, state_bytes);
        assert_false(parses(bytes, state_bytes + more));
    }
    free(bytes);
}

static void damage_on_the_disk_is_named(void **state)
{
    const char *path = folder_file(&folder, "x.state");
    char want[512], *bytes = copy(state_bytes);
    ddp_checkpoint_metadata metadata;
    ddp_checkpoint c;
    ddp_error err;

    (void)state;
    folder_write(path, bytes, state_bytes - 1);
    (void)snprintf(want, sizeof want, "%s: it has 249 bytes behind its header, not 250", path);
    assert_int_equal(ddp_checkpoint_peek(&metadata, path, &err), DDP_ERR_FORMAT);
    assert_string_equal(err.text, want);

    bytes[state_bytes - 20] ^= 1;
    folder_write(path, bytes, state_bytes);
    (void)snprintf(want, sizeof want, "%s: its checksum is wrong", path);
    assert_int_equal(ddp_checkpoint_peek(&metadata, path, &err), DDP_OK);
    assert_int_equal(ddp_checkpoint_read(&c, path, &err), DDP_ERR_FORMAT);
    assert_string_equal(err.text, want);

    bytes[41] ^= 1; /* saved_at_ns 1 */
    folder_write(path, bytes, state_bytes);
    (void)snprintf(want, sizeof want, "%s: its header is damaged: its checksum is wrong", path);
    assert_int_equal(ddp_checkpoint_peek(&metadata, path, &err), DDP_ERR_FORMAT);
    assert_memory_equal(err.text, want, strlen(want));

    bytes[18] = '2';
    folder_write(path, bytes, state_bytes);
    (void)snprintf(want, sizeof want, "%s: it has format 2, this program reads 1", path);
    assert_int_equal(ddp_checkpoint_read(&c, path, &err), DDP_ERR_FORMAT);
    assert_string_equal(err.text, want);
    free(bytes);
}

/* ---- what is well summed, and wrong all the same ---- */

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (seed >> 33) % below;
}

/* Make both checksums right. */
static void sum_again(char *bytes, size_t size)
{
    char *end = memmem(bytes, size, "header_hash ", 12), hex[17];
    uint64_t hash;

    if (!end || (size_t)(bytes + size - end) < 28 + sizeof hash)
        return;
    (void)snprintf(hex, sizeof hex, "%016" PRIx64,
                   (uint64_t)XXH3_64bits(bytes, (size_t)(end - bytes)));
    memcpy(end + 12, hex, 16);
    hash = XXH3_64bits(bytes, size - sizeof hash);
    memcpy(bytes + size - sizeof hash, &hash, sizeof hash);
}

/* Numbers of the right length, so that many of them get past the header. */
static void change_a_number(char *bytes, size_t size, const char *key)
{
    char *at = memmem(bytes, size, key, strlen(key));

    if (!at)
        return;
    for (at += strlen(key); at < bytes + size && *at >= '0' && *at <= '9'; at++)
        if (draw(2))
            *at = (char)('0' + draw(10));
}

static void no_bytes_harm_the_reader(void **state)
{
    static const char *const keys[] = {"cfg_bytes ", "arrays ", "body_bytes ", "step "};
    size_t body = state_bytes - 250;
    int accepted = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t size = draw(4) ? state_bytes : draw(state_bytes + 1);
        char *bytes = copy(size);

        for (uint64_t n = draw(4); n > 0; n--)
            change_a_number(bytes, size, keys[draw(4)]);
        for (uint64_t n = draw(4); n > 0 && size > body; n--)
            bytes[body + draw(size - body)] = (char)draw(256);
        sum_again(bytes, size);
        accepted += parses(bytes, size);
        free(bytes);
    }
    assert_in_range(accepted, 100, 19900);
}

static void random_bytes_are_no_state_file(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        size_t size = draw(3000), kept = draw(2) ? draw(size + 1) : 0;
        char *bytes;

        kept = kept < state_bytes ? kept : state_bytes;
        bytes = calloc(1, size ? size : 1);
        memcpy(bytes, state_file, kept);
        for (size_t i = kept; i < size; i++)
            bytes[i] = (char)draw(256);
        assert_false(parses(bytes, size));
        free(bytes);
    }
}

/* ---- does it fit the run? ---- */

static void arrays_of_another_network_are_named(void **state)
{
    struct toy_checkpoint toy, other;
    ddp_error err;

    (void)state;
    toy_checkpoint_make(&toy, "toy", 7);
    toy_checkpoint_make(&other, "toy", 7);
    other.arrays[2].count = 4;
    assert_int_equal(ddp_checkpoint_check_arrays(&toy.checkpoint, other.arrays, TOY_ARRAYS, &err),
                     DDP_ERR_MISMATCH);
    assert_string_equal(err.text, "the network is another one: the checkpoint has momentum of "
                                  "layer 4's input weights, 3 elements, the network has momentum "
                                  "of layer 4's input weights, 4 elements");
    assert_int_equal(ddp_checkpoint_check_arrays(&toy.checkpoint, toy.arrays, 2, &err),
                     DDP_ERR_MISMATCH);
    assert_string_equal(err.text, "the network is another one: the checkpoint has momentum of "
                                  "layer 4's input weights, 3 elements, the network has nothing "
                                  "more");
}

static void options_that_changed_are_named(void **state)
{
    struct toy_checkpoint toy;
    ddp_checkpoint_option options[] = {{"batch", "a whole one a rank"}, {"exact", "off"}};
    ddp_error err;

    (void)state;
    toy_checkpoint_make(&toy, "toy", 7);
    assert_int_equal(ddp_checkpoint_check_option(&toy.checkpoint.metadata, &options[0], &err),
                     DDP_OK);
    assert_int_equal(ddp_checkpoint_check_option(&toy.checkpoint.metadata, &options[1], &err),
                     DDP_ERR_MISMATCH);
    assert_string_equal(err.text, "exact was on, is now off");
    assert_int_equal(ddp_checkpoint_check_seed(&toy.checkpoint.metadata, 12, &err),
                     DDP_ERR_MISMATCH);
    assert_string_equal(err.text, "the seed was 18446744073709551615, is now 12");
}

static void another_list_is_named(void **state)
{
    ddp_checkpoint_metadata metadata = {.list_count = 2, .list_hash = 7};
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_checkpoint_check_list(&metadata, 2, metadata.list_hash, &err), DDP_OK);
    assert_int_equal(ddp_checkpoint_check_list(&metadata, 3, metadata.list_hash, &err),
                     DDP_ERR_MISMATCH);
    assert_string_equal(err.text, "the training list had 2 lines, has now 3");
    assert_int_equal(ddp_checkpoint_check_list(&metadata, 2, 8, &err), DDP_ERR_MISMATCH);
    assert_string_equal(err.text,
                        "the training list has other lines than before, or another order");
    metadata.list_count = 0;
    assert_int_equal(ddp_checkpoint_check_list(&metadata, 3, 0, &err), DDP_OK);
}

static void names_that_no_line_can_hold_are_changed(void **state)
{
    ddp_checkpoint_metadata metadata = {0};
    ddp_error err;

    (void)state;
    ddp_checkpoint_set_base(&metadata, "a\nb");
    assert_string_equal(metadata.base, "a?b");
    for (int i = 0; i < DDP_CHECKPOINT_OPTIONS; i++)
        assert_int_equal(ddp_checkpoint_add_option(&metadata, "x", "1\n2", &err), DDP_OK);
    assert_string_equal(metadata.options[0].value, "1?2");
    assert_int_equal(ddp_checkpoint_add_option(&metadata, "x", "1", &err), DDP_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(what_comes_from_a_source_makes_the_same_file),
        cmocka_unit_test(a_disk_that_is_full_asks_a_source_for_no_more),
        cmocka_unit_test(header_is_text),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(bytes_behind_the_end_are_refused),
        cmocka_unit_test(damage_on_the_disk_is_named),
        cmocka_unit_test(no_bytes_harm_the_reader),
        cmocka_unit_test(random_bytes_are_no_state_file),
        cmocka_unit_test(arrays_of_another_network_are_named),
        cmocka_unit_test(options_that_changed_are_named),
        cmocka_unit_test(another_list_is_named),
        cmocka_unit_test(names_that_no_line_can_hold_are_changed),
    };

    return cmocka_run_group_tests(tests, write_state_file, free_state_file);
}
