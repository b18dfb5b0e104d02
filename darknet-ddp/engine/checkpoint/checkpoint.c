#include "checkpoint/checkpoint.h"

#include "checkpoint/header.h"
#include "checkpoint/state_format.h"

#include <stdlib.h>
#include <string.h>

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
    ddp_state_array_header record = {.layer = (uint32_t)array->layer, .count = array->count};

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
                            .bytes =
                                c->cfg_bytes + c->array_count * sizeof(ddp_state_array_header)};
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
