#include "monitor/tensorboard.h"

#include "monitor/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAG_BYTES = 255, RECORD_BYTES = 512 };

struct ddp_tensorboard {
    ddp_record_file file;
};

/* A message that is being written; one that does not fit is a mistake of this file. */
struct message {
    unsigned char bytes[RECORD_BYTES];
    size_t count;
};

/* ---- protocol buffers ---- */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static void put_varint(struct message *m, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        m->bytes[m->count++] = (unsigned char)(value | 0x80);
    m->bytes[m->count++] = (unsigned char)value;
}

static void put_little(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static void put_key(struct message *m, int field, int kind)
{
    put_varint(m, (uint64_t)(field << 3 | kind));
}

static void put_double(struct message *m, int field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_key(m, field, FIXED64);
    put_little(m->bytes + m->count, bits, 8);
    m->count += 8;
}

static void put_float(struct message *m, int field, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_key(m, field, FIXED32);
    put_little(m->bytes + m->count, bits, 4);
    m->count += 4;
}

static void put_bytes(struct message *m, int field, const void *bytes, size_t count)
{
    put_key(m, field, BYTES);
    put_varint(m, count);
    memcpy(m->bytes + m->count, bytes, count);
    m->count += count;
}

/* ---- records ---- */

/* CRC-32C (Castagnoli), bit by bit: records are short. */
static uint32_t crc32c(const unsigned char *bytes, size_t count)
{
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

static uint32_t masked(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void write_record(ddp_record_file *file, const struct message *m)
{
    enum { HEAD = 12, TAIL = 4 };
    unsigned char record[HEAD + RECORD_BYTES + TAIL];

    put_little(record, m->count, 8);
    put_little(record + 8, masked(crc32c(record, 8)), 4);
    memcpy(record + HEAD, m->bytes, m->count);
    put_little(record + HEAD + m->count, masked(crc32c(m->bytes, m->count)), TAIL);
    ddp_record_file_add(file, record, HEAD + m->count + TAIL);
}

/* Fields of Event: wall_time 1, step 2, file_version 3, summary 5; of Summary: value 1; of its
 * Value: tag 1, simple_value 2. */
void ddp_tensorboard_add(ddp_tensorboard *t, double time_s, int64_t step, const char *tag,
                         float value)
{
    struct message of_value = {.count = 0}, summary = {.count = 0}, event = {.count = 0};
    size_t length = strnlen(tag, TAG_BYTES);

    put_bytes(&of_value, 1, tag, length);
    put_float(&of_value, 2, value);
    put_bytes(&summary, 1, of_value.bytes, of_value.count);
    put_double(&event, 1, time_s);
    put_key(&event, 2, VARINT);
    put_varint(&event, (uint64_t)step);
    put_bytes(&event, 5, summary.bytes, summary.count);
    write_record(&t->file, &event);
    ddp_record_file_flush(&t->file, 0);
}

ddp_status ddp_tensorboard_open(ddp_tensorboard **out, const char *folder, double time_s,
                                ddp_error *err)
{
    static const char version[] = "brain.Event:2";
    struct message first = {.count = 0};
    char host[256] = "", path[4096];
    ddp_tensorboard *t;

    *out = NULL;
    if (mkdir(folder, 0777) && errno != EEXIST)
        return ddp_fail(err, DDP_ERR_IO, "cannot make %s: %s", folder, strerror(errno));
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(path, sizeof path, "%s/events.out.tfevents.%010lld.%s.%ld", folder,
                   (long long)time_s, host, (long)getpid());
    t = calloc(1, sizeof *t);
    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for an event file");
    t->file.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (t->file.fd < 0) {
        free(t);
        return ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    }
    put_double(&first, 1, time_s);
    put_bytes(&first, 3, version, sizeof version - 1);
    write_record(&t->file, &first);
    *out = t;
    return DDP_OK;
}

void ddp_tensorboard_flush(ddp_tensorboard *t)
{
    ddp_record_file_flush(&t->file, 1);
}

size_t ddp_tensorboard_lost(const ddp_tensorboard *t, const char **why)
{
    return ddp_record_file_lost(&t->file, why);
}

void ddp_tensorboard_close(ddp_tensorboard *t)
{
    if (!t)
        return;
    ddp_record_file_close(&t->file);
    free(t);
}
