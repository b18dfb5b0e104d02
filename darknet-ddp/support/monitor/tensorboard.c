#include "monitor/tensorboard.h"

#include "base/protobuf.h"
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

static void put_little(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

/* Write the event, whose texts are short, and release it. An event for which there is no memory is
 * left out. */
static void write_record(ddp_record_file *file, ddp_protobuf *event)
{
    enum { HEAD = 12, TAIL = 4 };
    unsigned char record[HEAD + RECORD_BYTES + TAIL];

    if (!event->failed && event->count <= RECORD_BYTES) {
        put_little(record, event->count, 8);
        put_little(record + 8, masked(crc32c(record, 8)), 4);
        memcpy(record + HEAD, event->bytes, event->count);
        put_little(record + HEAD + event->count, masked(crc32c(event->bytes, event->count)), TAIL);
        ddp_record_file_add(file, record, HEAD + event->count + TAIL);
    }
    ddp_protobuf_release(event);
}

/* Fields of Event: wall_time 1, step 2, file_version 3, summary 5; of Summary: value 1; of its
 * Value: tag 1, simple_value 2. */
void ddp_tensorboard_add(ddp_tensorboard *t, double time_s, int64_t step, const char *tag,
                         float value)
{
    ddp_protobuf of_value = {0}, summary = {0}, event = {0};

    ddp_protobuf_put_bytes(&of_value, 1, tag, strnlen(tag, TAG_BYTES));
    ddp_protobuf_put_float(&of_value, 2, value);
    ddp_protobuf_put_message(&summary, 1, &of_value);
    ddp_protobuf_put_double(&event, 1, time_s);
    ddp_protobuf_put_int(&event, 2, step);
    ddp_protobuf_put_message(&event, 5, &summary);
    write_record(&t->file, &event);
    ddp_record_file_flush(&t->file, 0);
}

ddp_status ddp_tensorboard_open(ddp_tensorboard **out, const char *folder, double time_s,
                                ddp_error *err)
{
    static const char version[] = "brain.Event:2";
    ddp_protobuf first = {0};
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
    ddp_protobuf_put_double(&first, 1, time_s);
    ddp_protobuf_put_text(&first, 3, version);
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
