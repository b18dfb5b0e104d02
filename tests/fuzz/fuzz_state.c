/* Fuzzes state files: checksums are made right, so that what is behind them is reached. */
#include "checkpoint/checkpoint.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char header_hash[] = "\nheader_hash ";

enum { DIGITS = 16 };

/* Put the right hash into the header. Returns what is behind its last line, or NULL. */
static char *mend_header(char *bytes, size_t size)
{
    char *line = memmem(bytes, size, header_hash, sizeof header_hash - 1);
    char digits[DIGITS + 1];

    if (!line || (size_t)(bytes + size - line) < sizeof header_hash + DIGITS)
        return NULL;
    (void)snprintf(digits, sizeof digits, "%016llx",
                   (unsigned long long)XXH3_64bits(bytes, (size_t)(line + 1 - bytes)));
    memcpy(line + sizeof header_hash - 1, digits, DIGITS);
    line += sizeof header_hash - 1 + DIGITS;
    *line = '\n';
    return line + 1;
}

static void mend(char *bytes, size_t size)
{
    char *body = mend_header(bytes, size);
    uint64_t hash;

    if (!body || (size_t)(bytes + size - body) < sizeof hash)
        return;
    hash = XXH3_64bits(bytes, size - sizeof hash);
    memcpy(bytes + size - sizeof hash, &hash, sizeof hash);
}

static void use(const ddp_checkpoint *c)
{
    ddp_checkpoint_option option = {"-ddp_exact", "yes"};
    volatile char touched = 0;
    ddp_error err;
    int wrong;

    for (size_t i = 0; i < c->cfg_bytes; i++)
        touched = c->cfg[i];
    for (size_t i = 0; i < c->array_count; i++) {
        float last;

        if (c->arrays[i].count > 0
            && ddp_checkpoint_get(c, i, c->arrays[i].count - 1, &last, 1, &err) == DDP_OK)
            touched = (char)(last > 0);
    }
    wrong = ddp_checkpoint_check_finite(c, &err) != DDP_OK;
    wrong += ddp_checkpoint_check_arrays(c, c->arrays, c->array_count, &err) != DDP_OK;
    wrong += ddp_checkpoint_check_option(&c->metadata, &option, &err) != DDP_OK;
    wrong += ddp_checkpoint_check_list(&c->metadata, 3, 4, &err) != DDP_OK;
    touched = (char)wrong;
    (void)touched;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ddp_checkpoint c;
    ddp_error err;
    char *bytes;

    if (size < 1)
        return 0;
    bytes = malloc(size);
    if (!bytes)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] != 'x') /* x: the file as it is */
        mend(bytes, size - 1);
    if (ddp_checkpoint_parse(&c, bytes, size - 1, &err) == DDP_OK) {
        use(&c);
        ddp_checkpoint_release(&c);
    }
    free(bytes);
    return 0;
}
