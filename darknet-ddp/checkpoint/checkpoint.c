#include "checkpoint/checkpoint.h"

#include "checkpoint/header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little endian");

enum { PART_BYTES = 32, NAME_BYTES = 16 };

/* What stands before an array's floats in the file. */
struct record {
    uint32_t layer, zero;
    uint64_t count;
    char part[PART_BYTES], name[NAME_BYTES];
};

_Static_assert(sizeof(struct record) == 64, "the record is written as it is in memory");

/* ---- metadata ---- */

static void copy_printable(char *out, size_t size, const char *text)
{
    size_t i = 0;

    for (; i + 1 < size && text[i]; i++)
        out[i] = (char)((unsigned char)text[i] < ' ' ? '?' : text[i]);
    out[i] = 0;
}

ddp_status ddp_checkpoint_add_option(ddp_checkpoint_metadata *metadata, const char *name,
                                     const char *value, ddp_error *err)
{
    ddp_checkpoint_option *option = &metadata->options[metadata->option_count];

    if (metadata->option_count == DDP_CHECKPOINT_OPTIONS)
        return ddp_fail(err, DDP_ERR_USAGE, "more than %d options in a checkpoint",
                        DDP_CHECKPOINT_OPTIONS);
    copy_printable(option->name, sizeof option->name, name);
    copy_printable(option->value, sizeof option->value, value);
    metadata->option_count++;
    return DDP_OK;
}

void ddp_checkpoint_set_base(ddp_checkpoint_metadata *metadata, const char *base)
{
    copy_printable(metadata->base, sizeof metadata->base, base);
}

/* ---- writing ---- */

/* A disk that is full takes no more, whatever the source has. */
static ddp_status write_blocks(const ddp_checkpoint *c, const ddp_checkpoint_array *array,
                               ddp_file *f, ddp_error *err)
{
    float *block = malloc(DDP_CHECKPOINT_BLOCK * sizeof *block);
    ddp_status st = DDP_OK;

    if (!block)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to write a block of a state file");
    for (size_t at = 0, n; at < array->count && !ddp_file_has_failed(f) && !st; at += n) {
        n = array->count - at < DDP_CHECKPOINT_BLOCK ? array->count - at : DDP_CHECKPOINT_BLOCK;
        st = c->source->read(c->source->ctx, array->key, at, block, n, err);
        if (!st)
            (void)fwrite(block, sizeof *block, n, ddp_file_stream(f));
    }
    free(block);
    return st;
}

static ddp_status write_array(const ddp_checkpoint *c, const ddp_checkpoint_array *array,
                              ddp_file *f, ddp_error *err)
{
    FILE *fp = ddp_file_stream(f);
    struct record record = {.layer = (uint32_t)array->layer, .count = array->count};

    if (strlen(array->part) >= sizeof record.part || strlen(array->name) >= sizeof record.name)
        return ddp_fail(err, DDP_ERR_USAGE, "%s %s: too long a name for a state file", array->part,
                        array->name);
    memcpy(record.part, array->part, strlen(array->part));
    memcpy(record.name, array->name, strlen(array->name));
    (void)fwrite(&record, sizeof record, 1, fp);
    if (!array->data && array->count > 0)
        return write_blocks(c, array, f, err);
    (void)fwrite(array->data, sizeof(float), array->count, fp);
    return DDP_OK;
}

ddp_status ddp_checkpoint_write(const ddp_checkpoint *c, ddp_file *f, ddp_error *err)
{
    ddp_header_body body = {.cfg_bytes = c->cfg_bytes,
                            .arrays = c->array_count,
                            .bytes = c->cfg_bytes + c->array_count * sizeof(struct record)};
    FILE *fp = ddp_file_stream(f);
    char header[DDP_HEADER_BYTES];
    uint64_t hash;

    for (size_t i = 0; i < c->array_count; i++)
        body.bytes += c->arrays[i].count * sizeof(float);
    (void)fwrite(header, ddp_header_format(header, &c->metadata, &body), 1, fp);
    (void)fwrite(c->cfg, 1, c->cfg_bytes, fp);
    for (size_t i = 0; i < c->array_count; i++)
        if (write_array(c, &c->arrays[i], f, err))
            return err->code;
    hash = ddp_file_written(f).hash;
    (void)fwrite(&hash, sizeof hash, 1, fp);
    return DDP_OK;
}

/* ---- reading ---- */

static ddp_status check_length(size_t header, const ddp_header_body *body, uint64_t size,
                               ddp_error *err)
{
    uint64_t rest = size - header;

    if (rest < sizeof(uint64_t) || rest - sizeof(uint64_t) != body->bytes)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "it has %" PRIu64 " bytes behind its header, not %" PRIu64, rest,
                        body->bytes + sizeof(uint64_t));
    return DDP_OK;
}

static int ends_within(const char *text, size_t size)
{
    return memchr(text, 0, size) != NULL;
}

/* Take the array at bytes[at..size). Returns where the next one starts, or 0 if there
 * is none that fits. */
static size_t parse_array(char *bytes, size_t at, size_t size, ddp_checkpoint_array *out)
{
    struct record record;

    if (size - at < sizeof record)
        return 0;
    memcpy(&record, bytes + at, sizeof record);
    *out = (ddp_checkpoint_array){
        .layer = (int)record.layer,
        .part = bytes + at + offsetof(struct record, part),
        .name = bytes + at + offsetof(struct record, name),
        .count = (size_t)record.count,
        .data = bytes + at + sizeof record,
    };
    at += sizeof record;
    if (record.zero || record.count > (size - at) / sizeof(float)
        || !ends_within(record.part, sizeof record.part)
        || !ends_within(record.name, sizeof record.name))
        return 0;
    return at + (size_t)record.count * sizeof(float);
}

static ddp_status parse_arrays(ddp_checkpoint *out, char *bytes, size_t at, size_t size,
                               ddp_error *err)
{
    out->arrays = calloc(out->array_count + 1, sizeof *out->arrays);
    if (!out->arrays)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu arrays", out->array_count);
    for (size_t i = 0; i < out->array_count; i++) {
        at = parse_array(bytes, at, size, &out->arrays[i]);
        if (at == 0)
            return ddp_fail(err, DDP_ERR_FORMAT, "array %zu does not fit in it", i);
    }
    if (at != size)
        return ddp_fail(err, DDP_ERR_FORMAT, "%zu bytes are left behind its arrays", size - at);
    return DDP_OK;
}

ddp_status ddp_checkpoint_parse(ddp_checkpoint *out, void *bytes, size_t size, ddp_error *err)
{
    ddp_header_body body;
    size_t header, end;
    uint64_t hash;
    ddp_status st;

    *out = (ddp_checkpoint){0};
    st = ddp_header_parse(bytes, size, &out->metadata, &body, &header, err);
    if (!st)
        st = check_length(header, &body, size, err);
    if (st)
        return st;
    end = size - sizeof hash;
    memcpy(&hash, (char *)bytes + end, sizeof hash);
    if (hash != XXH3_64bits(bytes, end))
        return ddp_fail(err, DDP_ERR_FORMAT, "its checksum is wrong");
    /* From here on only what some program wrote so is refused. */
    if (body.cfg_bytes > body.bytes
        || body.arrays > (body.bytes - body.cfg_bytes) / sizeof(struct record))
        return ddp_fail(err, DDP_ERR_FORMAT, "its cfg or its arrays do not fit in it");
    out->cfg = (char *)bytes + header;
    out->cfg_bytes = (size_t)body.cfg_bytes;
    out->array_count = (size_t)body.arrays;
    st = parse_arrays(out, bytes, header + out->cfg_bytes, end, err);
    if (st)
        ddp_checkpoint_release(out);
    return st;
}

/* The size of a header is bounded, so that a header is checked before memory is
 * allocated for what it announces. */
static ddp_status peek(ddp_checkpoint_metadata *metadata, const char *path, ddp_error *err)
{
    ddp_header_body body;
    size_t bytes, header;
    uint64_t size;
    void *data;
    ddp_status st = ddp_file_read(path, DDP_HEADER_BYTES, &data, &bytes, &size, err);

    if (st)
        return st;
    st = ddp_header_parse(data, bytes, metadata, &body, &header, err);
    if (!st)
        st = check_length(header, &body, size, err);
    free(data);
    return st ? ddp_wrap(err, "%s", path) : DDP_OK;
}

ddp_status ddp_checkpoint_peek(ddp_checkpoint_metadata *out, const char *path, ddp_error *err)
{
    *out = (ddp_checkpoint_metadata){0};
    return peek(out, path, err);
}

ddp_status ddp_checkpoint_read(ddp_checkpoint *out, const char *path, ddp_error *err)
{
    size_t bytes;
    uint64_t size;
    void *data;
    ddp_status st;

    *out = (ddp_checkpoint){0};
    st = peek(&out->metadata, path, err);
    if (!st)
        st = ddp_file_read(path, SIZE_MAX, &data, &bytes, &size, err);
    if (st)
        return st;
    st = ddp_checkpoint_parse(out, data, bytes, err);
    if (st) {
        free(data);
        return ddp_wrap(err, "%s", path);
    }
    out->memory = data;
    return DDP_OK;
}

void ddp_checkpoint_release(ddp_checkpoint *c)
{
    free(c->arrays);
    free(c->memory);
    *c = (ddp_checkpoint){0};
}
