#include "checkpoint/header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char magic[] = "darknet-ddp state ";
static const char end_key[] = "header_hash";

enum { FORMAT = 1, LINE_BYTES = 512, HASH_DIGITS = 16 };

/* Facts and body together, so that one table has every line of the header. */
struct header {
    ddp_checkpoint_metadata metadata;
    ddp_header_body body;
};

enum form { TEXT, NUMBER, HASH, FRACTION };

static const struct row {
    const char *name;
    enum form form;
    size_t at; /* in struct header */
} rows[] = {
    {"base", TEXT, offsetof(struct header, metadata.base)},
    {"saved_at_ns", NUMBER, offsetof(struct header, metadata.saved_at_ns)},
    {"step", NUMBER, offsetof(struct header, metadata.step)},
    {"seen", NUMBER, offsetof(struct header, metadata.seen)},
    {"t", NUMBER, offsetof(struct header, metadata.t)},
    {"seed", NUMBER, offsetof(struct header, metadata.seed)},
    {"epoch", NUMBER, offsetof(struct header, metadata.epoch)},
    {"position", NUMBER, offsetof(struct header, metadata.position)},
    {"list_count", NUMBER, offsetof(struct header, metadata.list_count)},
    {"list_hash", HASH, offsetof(struct header, metadata.list_hash)},
    {"width", NUMBER, offsetof(struct header, metadata.width)},
    {"height", NUMBER, offsetof(struct header, metadata.height)},
    {"ranks", NUMBER, offsetof(struct header, metadata.ranks)},
    {"average_loss", FRACTION, offsetof(struct header, metadata.average_loss)},
    {"values_hash", HASH, offsetof(struct header, metadata.values_hash)},
    {"weights_bytes", NUMBER, offsetof(struct header, metadata.weights_bytes)},
    {"weights_hash", HASH, offsetof(struct header, metadata.weights_hash)},
    {"cfg_bytes", NUMBER, offsetof(struct header, body.cfg_bytes)},
    {"arrays", NUMBER, offsetof(struct header, body.arrays)},
    {"body_bytes", NUMBER, offsetof(struct header, body.bytes)},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

enum { MOST_ROW_BYTES = 64, OPTION_BYTES = DDP_CHECKPOINT_NAME_BYTES + DDP_CHECKPOINT_VALUE_BYTES };

/* The longest header: the rows, a long base, all options, the first and the last line. */
_Static_assert((ROWS + 2) * MOST_ROW_BYTES + DDP_CHECKPOINT_BASE_BYTES
                       + DDP_CHECKPOINT_OPTIONS * (OPTION_BYTES + 8)
                   < DDP_HEADER_BYTES,
               "headers need more room");

/* ---- what is put into one ---- */

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

static void format_value(char *out, size_t size, const struct row *row, const struct header *h)
{
    const char *at = (const char *)h + row->at;
    uint64_t number = 0;
    float fraction = 0;

    switch (row->form) {
    case TEXT:
        (void)snprintf(out, size, "%s", at);
        return;
    case FRACTION:
        memcpy(&fraction, at, sizeof fraction);
        (void)snprintf(out, size, "%a", (double)fraction);
        return;
    case NUMBER:
    case HASH:
        memcpy(&number, at, sizeof number);
        (void)snprintf(out, size, row->form == HASH ? "%016" PRIx64 : "%" PRIu64, number);
    }
}

size_t ddp_header_format(char *text, const ddp_checkpoint_metadata *metadata,
                         const ddp_header_body *body)
{
    const struct header h = {*metadata, *body};
    char *at = text, *end = text + DDP_HEADER_BYTES;

    at += snprintf(at, (size_t)(end - at), "%s%d\n", magic, FORMAT);
    for (size_t i = 0; i < ROWS; i++) {
        char value[LINE_BYTES];

        format_value(value, sizeof value, &rows[i], &h);
        at += snprintf(at, (size_t)(end - at), "%s %s\n", rows[i].name, value);
    }
    for (size_t i = 0; i < metadata->option_count; i++)
        at += snprintf(at, (size_t)(end - at), "option %s %s\n", metadata->options[i].name,
                       metadata->options[i].value);
    at += snprintf(at, (size_t)(end - at), "%s %016" PRIx64 "\n", end_key,
                   (uint64_t)XXH3_64bits(text, (size_t)(at - text)));
    return (size_t)(at - text);
}

/* ---- reading ---- */

struct reader {
    const char *at, *end;
};

/* The next line without its newline, or 0 where there is no whole one. */
static int next_line(struct reader *r, char line[LINE_BYTES])
{
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    size_t length = newline ? (size_t)(newline - r->at) : LINE_BYTES;

    if (length >= LINE_BYTES || memchr(r->at, 0, length))
        return 0;
    memcpy(line, r->at, length);
    line[length] = 0;
    r->at = newline + 1;
    return 1;
}

/* Return the text behind "key " in the line, or NULL if the line begins otherwise. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);

    return strncmp(line, key, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static int parse_value(const char *value, const struct row *row, struct header *h)
{
    char *at = (char *)h + row->at;
    char again[LINE_BYTES] = "";
    uint64_t number;
    float fraction;

    switch (row->form) {
    case TEXT:
        if (strlen(value) >= sizeof h->metadata.base)
            return 0;
        memcpy(at, value, strlen(value) + 1);
        break;
    case FRACTION:
        fraction = strtof(value, NULL);
        memcpy(at, &fraction, sizeof fraction);
        break;
    case NUMBER:
    case HASH:
        number = strtoull(value, NULL, row->form == HASH ? 16 : 10);
        memcpy(at, &number, sizeof number);
    }
    format_value(again, sizeof again, row, h);
    return strcmp(again, value) == 0; /* else it is not what was written */
}

static int parse_option(const char *text, ddp_checkpoint_metadata *metadata)
{
    const char *blank = strchr(text, ' ');
    size_t name = blank ? (size_t)(blank - text) : DDP_CHECKPOINT_NAME_BYTES;
    ddp_checkpoint_option *option = &metadata->options[metadata->option_count];

    if (metadata->option_count == DDP_CHECKPOINT_OPTIONS || name >= sizeof option->name
        || strlen(blank + 1) >= sizeof option->value)
        return 0;
    metadata->option_count++;
    memcpy(option->name, text, name);
    memcpy(option->value, blank + 1, strlen(blank + 1) + 1);
    return 1;
}

static ddp_status parse_magic(struct reader *r, ddp_error *err)
{
    char line[LINE_BYTES], wanted[sizeof magic + 16];

    if (!next_line(r, line) || strncmp(line, magic, sizeof magic - 1) != 0)
        return ddp_fail(err, DDP_ERR_FORMAT, "it is no state file");
    (void)snprintf(wanted, sizeof wanted, "%s%d", magic, FORMAT);
    if (strcmp(line, wanted) != 0)
        return ddp_fail(err, DDP_ERR_FORMAT, "it has format %.20s, this program reads %d",
                        line + sizeof magic - 1, FORMAT);
    return DDP_OK;
}

static ddp_status parse_lines(struct reader *r, struct header *h, char *line, ddp_error *err)
{
    const char *value;

    for (size_t i = 0; i < ROWS; i++) {
        value = next_line(r, line) ? value_of(line, rows[i].name) : NULL;
        if (!value || !parse_value(value, &rows[i], h))
            return ddp_fail(err, DDP_ERR_FORMAT, "the line %s of its header is damaged",
                            rows[i].name);
    }
    while (next_line(r, line) && (value = value_of(line, "option")) != NULL)
        if (!parse_option(value, &h->metadata))
            return ddp_fail(err, DDP_ERR_FORMAT, "an option in its header is damaged");
    return DDP_OK;
}

ddp_status ddp_header_parse(const char *text, size_t size, ddp_checkpoint_metadata *metadata,
                            ddp_header_body *body, size_t *length, ddp_error *err)
{
    struct reader r = {text, text + (size < DDP_HEADER_BYTES ? size : DDP_HEADER_BYTES)};
    char line[LINE_BYTES] = "", last[sizeof end_key + 1 + HASH_DIGITS];
    struct header h = {0};
    ddp_status st = parse_magic(&r, err);

    if (!st)
        st = parse_lines(&r, &h, line, err);
    if (st)
        return st;
    *length = (size_t)(r.at - text);
    (void)snprintf(last, sizeof last, "%s %016" PRIx64, end_key,
                   (uint64_t)XXH3_64bits(text, *length - strlen(line) - 1));
    if (strcmp(line, last) != 0)
        return ddp_fail(err, DDP_ERR_FORMAT, "its header is damaged: its checksum is wrong");
    *metadata = h.metadata;
    metadata->is_header_alone = h.body.bytes == 0;
    *body = h.body;
    return DDP_OK;
}
