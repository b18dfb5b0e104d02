#include "base/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

enum { VARINT_MOST = 10, FIRST_ROOM = 64 };

/* Return where `count` more bytes go, or NULL if there is no memory. */
static unsigned char *extend(ddp_protobuf *m, size_t count)
{
    unsigned char *bytes = m->bytes;
    size_t room = m->room ? m->room : FIRST_ROOM;

    if (m->failed)
        return NULL;
    while (room - m->count < count)
        room *= 2;
    if (room != m->room)
        bytes = realloc(m->bytes, room);
    if (!bytes) {
        m->failed = 1;
        return NULL;
    }
    m->bytes = bytes;
    m->room = room;
    m->count += count;
    return bytes + m->count - count;
}

static void put(ddp_protobuf *m, const void *bytes, size_t count)
{
    unsigned char *at = count ? extend(m, count) : NULL;

    if (at)
        memcpy(at, bytes, count);
}

static void put_varint(ddp_protobuf *m, uint64_t value)
{
    unsigned char bytes[VARINT_MOST];
    size_t count = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (unsigned char)(value | 0x80);
    bytes[count++] = (unsigned char)value;
    put(m, bytes, count);
}

static void put_key(ddp_protobuf *m, int field, int kind)
{
    put_varint(m, (uint64_t)field << 3 | (uint64_t)kind);
}

static void put_little(ddp_protobuf *m, uint64_t value, size_t count)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    put(m, bytes, count);
}

void ddp_protobuf_put_int(ddp_protobuf *m, int field, int64_t value)
{
    put_key(m, field, VARINT);
    put_varint(m, (uint64_t)value);
}

void ddp_protobuf_put_float(ddp_protobuf *m, int field, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_key(m, field, FIXED32);
    put_little(m, bits, sizeof bits);
}

void ddp_protobuf_put_double(ddp_protobuf *m, int field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_key(m, field, FIXED64);
    put_little(m, bits, sizeof bits);
}

void ddp_protobuf_begin_bytes(ddp_protobuf *m, int field, size_t count)
{
    put_key(m, field, BYTES);
    put_varint(m, count);
}

void ddp_protobuf_put_bytes(ddp_protobuf *m, int field, const void *bytes, size_t count)
{
    ddp_protobuf_begin_bytes(m, field, count);
    put(m, bytes, count);
}

void ddp_protobuf_put_text(ddp_protobuf *m, int field, const char *text)
{
    ddp_protobuf_put_bytes(m, field, text, strlen(text));
}

void ddp_protobuf_append(ddp_protobuf *m, ddp_protobuf *more)
{
    put(m, more->bytes, more->count);
    m->failed |= more->failed;
    ddp_protobuf_release(more);
}

void ddp_protobuf_put_message(ddp_protobuf *m, int field, ddp_protobuf *inner)
{
    ddp_protobuf_put_bytes(m, field, inner->bytes, inner->count);
    m->failed |= inner->failed;
    ddp_protobuf_release(inner);
}

void ddp_protobuf_release(ddp_protobuf *m)
{
    free(m->bytes);
    *m = (ddp_protobuf){0};
}
