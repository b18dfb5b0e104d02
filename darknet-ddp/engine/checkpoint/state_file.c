/* Writes a state file (checkpoint/checkpoint.h) to the disk, and reads it. ddp_checkpoint_read goes
 * through the file once from end to end, to know that it is whole, and then reads its cfg and the
 * names of its arrays. The floats stay in the file until ddp_checkpoint_get asks for them, so a
 * checkpoint takes little memory. */
#include "checkpoint/checkpoint.h"
#include "checkpoint/header.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* The record before an array's floats. */
typedef struct record {
    uint32_t layer, zero;
    uint64_t count;
    char part[32], name[16];
} record;

_Static_assert(sizeof(record) == 64, "the record is written as it is in memory");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little endian");

/* ---- writing ---- */

/* Stops at the first error of the disk: a full one takes no more, whatever the source still has. */
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
    record head = {.layer = (uint32_t)array->layer, .count = array->count};

    if (strlen(array->part) >= sizeof head.part || strlen(array->name) >= sizeof head.name)
        return ddp_fail(err, DDP_ERR_USAGE, "%s %s: too long a name for a state file", array->part,
                        array->name);
    memcpy(head.part, array->part, strlen(array->part));
    memcpy(head.name, array->name, strlen(array->name));
    (void)fwrite(&head, sizeof head, 1, fp);
    if (!array->data && array->count > 0)
        return write_blocks(c, array, f, err);
    (void)fwrite(array->data, sizeof(float), array->count, fp);
    return DDP_OK;
}

ddp_status ddp_checkpoint_write(const ddp_checkpoint *c, ddp_file *f, ddp_error *err)
{
    ddp_header_body body = {.cfg_bytes = c->cfg_bytes,
                            .arrays = c->array_count,
                            .bytes = c->cfg_bytes + c->array_count * sizeof(record)};
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

/* ---- reading: bytes ---- */

enum { BLOCK_BYTES = 1 << 20 };

/* Where a state file's bytes are: in memory or, with fd not below 0, on the disk. */
struct ddp_checkpoint_place {
    ddp_checkpoint_source source; /* keys are places in the file */
    const char *bytes;
    int fd;
    uint64_t size;
};

static ddp_status read_from_disk(const struct ddp_checkpoint_place *place, uint64_t at, char *to,
                                 size_t bytes, ddp_error *err)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(place->fd, to + done, bytes - done, (off_t)(at + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ddp_fail(err, DDP_ERR_IO, "it cannot be read: %s", strerror(errno));
        if (n == 0)
            return ddp_fail(err, DDP_ERR_IO, "it became shorter while it was read");
        done += (size_t)n;
    }
    return DDP_OK;
}

static ddp_status get(const struct ddp_checkpoint_place *place, uint64_t at, void *to, size_t bytes,
                      ddp_error *err)
{
    if (place->fd >= 0)
        return read_from_disk(place, at, to, bytes, err);
    memcpy(to, place->bytes + at, bytes);
    return DDP_OK;
}

static ddp_status read_floats(void *ctx, size_t key, size_t at, float *block, size_t count,
                              ddp_error *err)
{
    return get(ctx, key + at * sizeof *block, block, count * sizeof *block, err);
}

static ddp_status no_memory(ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory to read a state file");
}

static void close_place(struct ddp_checkpoint_place *place)
{
    if (place && place->fd >= 0)
        (void)close(place->fd);
    free(place);
}

/* ---- reading: is it whole? ---- */

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

/* The size of a header is bounded, so that a header is checked before memory is
 * allocated for what it announces. *header: its length. */
static ddp_status read_header(const struct ddp_checkpoint_place *place,
                              ddp_checkpoint_metadata *metadata, ddp_header_body *body,
                              size_t *header, ddp_error *err)
{
    char text[DDP_HEADER_BYTES];
    size_t bytes = place->size < sizeof text ? (size_t)place->size : sizeof text;
    ddp_status st = get(place, 0, text, bytes, err);

    if (!st)
        st = ddp_header_parse(text, bytes, metadata, body, header, err);
    return st ? st : check_length(*header, body, place->size, err);
}

static ddp_status add_to_hash(const struct ddp_checkpoint_place *place, uint64_t end, char *block,
                              XXH3_state_t *hash, ddp_error *err)
{
    (void)XXH3_64bits_reset(hash);
    for (uint64_t at = 0; at < end; at += BLOCK_BYTES) {
        size_t bytes = end - at < BLOCK_BYTES ? (size_t)(end - at) : BLOCK_BYTES;

        if (get(place, at, block, bytes, err))
            return err->code;
        (void)XXH3_64bits_update(hash, block, bytes);
    }
    return DDP_OK;
}

static ddp_status check_hash(const struct ddp_checkpoint_place *place, ddp_error *err)
{
    XXH3_state_t *hash = XXH3_createState();
    char *block = malloc(BLOCK_BYTES);
    uint64_t written, end = place->size - sizeof written;
    ddp_status st = hash && block ? DDP_OK : no_memory(err);

    if (!st)
        st = add_to_hash(place, end, block, hash, err);
    if (!st)
        st = get(place, end, &written, sizeof written, err);
    if (!st && written != XXH3_64bits_digest(hash))
        st = ddp_fail(err, DDP_ERR_FORMAT, "its checksum is wrong");
    (void)XXH3_freeState(hash);
    free(block);
    return st;
}

/* ---- reading: what is in it ---- */

static int ends_within(const char *text, size_t size)
{
    return memchr(text, 0, size) != NULL;
}

/* Take the array that stands at `at`, before end, and its record. Returns where the next one
 * stands; 0: there is none that fits. */
static uint64_t take_array(ddp_checkpoint_array *out, const record *head, uint64_t at, uint64_t end)
{
    *out = (ddp_checkpoint_array){.layer = (int)head->layer,
                                  .part = head->part,
                                  .name = head->name,
                                  .count = (size_t)head->count,
                                  .key = (size_t)at + sizeof *head};
    at += sizeof *head;
    if (head->zero || head->count > (end - at) / sizeof(float)
        || !ends_within(head->part, sizeof head->part)
        || !ends_within(head->name, sizeof head->name))
        return 0;
    return at + head->count * sizeof(float);
}

static ddp_status list_arrays(ddp_checkpoint *out, uint64_t at, uint64_t end, ddp_error *err)
{
    record *records = out->memory;

    for (size_t i = 0; i < out->array_count; i++) {
        uint64_t next = 0;

        if (end - at >= sizeof *records) {
            if (get(out->place, at, &records[i], sizeof *records, err))
                return err->code;
            next = take_array(&out->arrays[i], &records[i], at, end);
        }
        if (next == 0)
            return ddp_fail(err, DDP_ERR_FORMAT, "array %zu does not fit in it", i);
        at = next;
    }
    if (at != end)
        return ddp_fail(err, DDP_ERR_FORMAT, "%" PRIu64 " bytes are left behind its arrays",
                        end - at);
    return DDP_OK;
}

/* Records, and behind them the cfg, in one piece of memory. */
static ddp_status read_body(ddp_checkpoint *out, const ddp_header_body *body, size_t header,
                            ddp_error *err)
{
    size_t records = (size_t)body->arrays * sizeof(record);
    char *memory = malloc(records + (size_t)body->cfg_bytes + 1);

    out->memory = memory;
    out->arrays = calloc((size_t)body->arrays + 1, sizeof *out->arrays);
    if (!memory || !out->arrays)
        return no_memory(err);
    out->cfg = memory + records;
    out->cfg_bytes = (size_t)body->cfg_bytes;
    out->array_count = (size_t)body->arrays;
    if (get(out->place, header, memory + records, out->cfg_bytes, err))
        return err->code;
    return list_arrays(out, header + out->cfg_bytes, out->place->size - sizeof(uint64_t), err);
}

/* Fill out from the bytes at out->place. */
static ddp_status understand(ddp_checkpoint *out, ddp_error *err)
{
    ddp_header_body body;
    size_t header;
    ddp_status st = read_header(out->place, &out->metadata, &body, &header, err);

    if (!st)
        st = check_hash(out->place, err);
    /* The bytes are as they were written: what is refused from here on, some program wrote so. */
    if (!st
        && (body.cfg_bytes > body.bytes
            || body.arrays > (body.bytes - body.cfg_bytes) / sizeof(record)))
        st = ddp_fail(err, DDP_ERR_FORMAT, "its cfg or its arrays do not fit in it");
    if (!st)
        st = read_body(out, &body, header, err);
    if (st)
        ddp_checkpoint_release(out);
    return st;
}

static ddp_status open_place(ddp_checkpoint *out, const char *bytes, int fd, uint64_t size,
                             ddp_error *err)
{
    *out = (ddp_checkpoint){0};
    out->place = malloc(sizeof *out->place);
    if (!out->place)
        return no_memory(err);
    *out->place = (struct ddp_checkpoint_place){
        .source = {read_floats, out->place}, .bytes = bytes, .fd = fd, .size = size};
    out->source = &out->place->source;
    return DDP_OK;
}

ddp_status ddp_checkpoint_parse(ddp_checkpoint *out, const void *bytes, size_t size, ddp_error *err)
{
    ddp_status st = open_place(out, bytes, -1, size, err);

    return st ? st : understand(out, err);
}

ddp_status ddp_checkpoint_peek(ddp_checkpoint_metadata *out, const char *path, ddp_error *err)
{
    struct ddp_checkpoint_place place = {.fd = -1};
    ddp_header_body body;
    size_t header;
    ddp_status st;

    *out = (ddp_checkpoint_metadata){0};
    if (ddp_file_open(path, &place.fd, &place.size, err))
        return err->code;
    st = read_header(&place, out, &body, &header, err);
    (void)close(place.fd);
    return st ? ddp_wrap(err, "%s", path) : DDP_OK;
}

ddp_status ddp_checkpoint_read(ddp_checkpoint *out, const char *path, ddp_error *err)
{
    uint64_t size;
    int fd;

    *out = (ddp_checkpoint){0};
    if (ddp_file_open(path, &fd, &size, err))
        return err->code;
    if (open_place(out, NULL, fd, size, err)) {
        (void)close(fd);
        return err->code;
    }
    return understand(out, err) ? ddp_wrap(err, "%s", path) : DDP_OK;
}

/* ---- reading: its floats ---- */

ddp_status ddp_checkpoint_get(const ddp_checkpoint *c, size_t i, size_t at, float *x, size_t count,
                              ddp_error *err)
{
    const ddp_checkpoint_array *array = &c->arrays[i];

    if (!array->data)
        return c->source->read(c->source->ctx, array->key, at, x, count, err);
    memcpy(x, (const float *)array->data + at, count * sizeof *x);
    return DDP_OK;
}

ddp_status ddp_checkpoint_copy_arrays(const ddp_checkpoint *c, const ddp_checkpoint_array *arrays,
                                      size_t count, ddp_error *err)
{
    ddp_status st = DDP_OK;

    for (size_t i = 0; i < count && !st; i++)
        if (arrays[i].data)
            st = ddp_checkpoint_get(c, i, 0, arrays[i].data, arrays[i].count, err);
    return st;
}

void ddp_checkpoint_release(ddp_checkpoint *c)
{
    free(c->arrays);
    free(c->memory);
    close_place(c->place);
    *c = (ddp_checkpoint){0};
}
