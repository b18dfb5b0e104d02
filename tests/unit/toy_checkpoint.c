#include "toy_checkpoint.h"

#include "folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const size_t counts[TOY_ARRAYS] = {TOY_FLOATS, 1, 3};

void toy_checkpoint_make(struct toy_checkpoint *t, const char *base, int number)
{
    static const char *const parts[TOY_ARRAYS] = {"biases", "biases", "input weights"};
    static const char *const names[TOY_ARRAYS] = {"m", "v", "momentum"};
    ddp_checkpoint_metadata *metadata = &t->checkpoint.metadata;
    ddp_error err;

    memset(t, 0, sizeof *t);
    t->number = number;
    for (int i = 0; i < TOY_ARRAYS; i++) {
        for (int k = 0; k < TOY_FLOATS; k++)
            t->data[i][k] = (float)(number * 100 + i * 10 + k) / 7;
        t->arrays[i] =
            (ddp_checkpoint_array){2 * i, parts[i], names[i], counts[i], t->data[i], (size_t)i};
    }
    (void)snprintf(t->cfg, sizeof t->cfg, "[net]\nbatch=%d\n", number);
    t->checkpoint = (ddp_checkpoint){
        .cfg = t->cfg, .cfg_bytes = strlen(t->cfg), .array_count = TOY_ARRAYS, .arrays = t->arrays};
    metadata->step = (uint64_t)number;
    metadata->seen = (uint64_t)number * 64;
    metadata->seed = UINT64_MAX;
    metadata->list_hash = 0xABCDEF;
    metadata->average_loss = (float)number / 3;
    ddp_checkpoint_set_base(metadata, base);
    if (ddp_checkpoint_add_option(metadata, "exact", "on", &err)
        || ddp_checkpoint_add_option(metadata, "batch", "a whole one a rank", &err))
        fail_msg("%s", err.text);
}

/* In two writes. */
static void write_weights_of(void *ctx, FILE *fp)
{
    const struct toy_checkpoint *t = ctx;

    for (int i = 0; i < 2000; i++) {
        (void)fprintf(fp, "%d\n", t->number);
        if (i == 1000)
            (void)fflush(fp);
    }
}

ddp_status toy_checkpoint_write(ddp_pair_writing **out, const char *path, const char *base,
                                int number, ddp_error *err)
{
    struct toy_checkpoint t;
    const ddp_weights_writer writer = {write_weights_of, &t};

    toy_checkpoint_make(&t, base, number);
    return ddp_pair_write(out, path, &t.checkpoint, &writer, err);
}

ddp_status toy_checkpoint_save(const char *path, const char *base, int number, ddp_error *err)
{
    struct toy_checkpoint t;
    const ddp_weights_writer writer = {write_weights_of, &t};

    toy_checkpoint_make(&t, base, number);
    return ddp_pair_save(path, &t.checkpoint, &writer, err);
}

void toy_checkpoint_expect(const ddp_checkpoint *c, const char *base, int number)
{
    struct toy_checkpoint want;
    ddp_checkpoint_metadata metadata = c->metadata;
    ddp_error err;

    toy_checkpoint_make(&want, base, number);
    metadata.saved_at_ns = metadata.weights_bytes = metadata.weights_hash = 0;
    assert_memory_equal(&metadata, &want.checkpoint.metadata, sizeof metadata);
    assert_int_equal(c->cfg_bytes, want.checkpoint.cfg_bytes);
    assert_memory_equal(c->cfg, want.cfg, c->cfg_bytes);
    if (ddp_checkpoint_check_arrays(c, want.arrays, TOY_ARRAYS, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < TOY_ARRAYS; i++) {
        float data[TOY_FLOATS];

        if (ddp_checkpoint_get(c, i, 0, data, counts[i], &err))
            fail_msg("%s", err.text);
        assert_memory_equal(data, want.data[i], counts[i] * sizeof(float));
    }
}

void toy_checkpoint_expect_weights(const char *path, int number)
{
    size_t size;
    char *bytes = folder_read(path, &size);

    assert_int_equal(atoi(bytes), number);
    free(bytes);
}
