/* base/protobuf.h: writes messages in the wire format of protocol buffers, field by field, to
 * memory. TensorBoard's events and ONNX files are such messages. No schema is needed: the caller
 * gives the number of each field, and picks the function for its type. */
#ifndef DDP_BASE_PROTOBUF_H
#define DDP_BASE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* A message that is being written. All zeros is an empty one. */
typedef struct ddp_protobuf {
    unsigned char *bytes; /* the fields so far, owned by the message */
    size_t count, room;   /* bytes in use, and bytes allocated */
    int failed;           /* 1: there was no memory, and the message is not whole */
} ddp_protobuf;

/* Add a field that is a whole number (int32, int64, bool, enum). */
void ddp_protobuf_put_int(ddp_protobuf *m, int field, int64_t value);

void ddp_protobuf_put_float(ddp_protobuf *m, int field, float value);

void ddp_protobuf_put_double(ddp_protobuf *m, int field, double value);

/* Add a field of bytes, or of a finished message. */
void ddp_protobuf_put_bytes(ddp_protobuf *m, int field, const void *bytes, size_t count);

void ddp_protobuf_put_text(ddp_protobuf *m, int field, const char *text);

/* Add the message `inner` as a field of m, and release it. If `inner` has failed, m fails. */
void ddp_protobuf_put_message(ddp_protobuf *m, int field, ddp_protobuf *inner);

/* Append the fields of the message `more` to m, and release it. If `more` has failed, m fails. */
void ddp_protobuf_append(ddp_protobuf *m, ddp_protobuf *more);

/* Begin the last field of m, of `count` bytes. The caller then writes these bytes to the file,
 * behind those of m; m does not hold them. */
void ddp_protobuf_begin_bytes(ddp_protobuf *m, int field, size_t count);

/* Free what m holds; m is then an empty message. */
void ddp_protobuf_release(ddp_protobuf *m);

#endif
