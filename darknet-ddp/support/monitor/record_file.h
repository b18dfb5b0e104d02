/* monitor/record_file.h: appends records, such as rows of a table, to a file. If a write fails,
 * what it has written is cut off; records wait in memory, up to 4 MB, until the disk has room. */
#ifndef DDP_MONITOR_RECORD_FILE_H
#define DDP_MONITOR_RECORD_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A record file. The caller opens it: it sets fd, and `good` if the file has records already; all
 * else is zero. The caller adds to `lost` if it has no memory for a record. */
typedef struct ddp_record_file {
    int fd;        /* the file; -1: there is none */
    off_t good;    /* bytes of whole records in the file; the next record is written there */
    char *waiting; /* records that are not in the file yet */
    size_t bytes, room, records; /* bytes in use, bytes allocated, and records of `waiting` */
    int64_t flushed_ns;          /* ddp_clock_ns of the last flush */
    size_t lost;                 /* records that were dropped */
    int error;                   /* errno of the last flush; 0: it succeeded */
} ddp_record_file;

/* Add bytes[0..count) as a record, which waits in memory for the next flush. If more than 4 MB
 * would wait, or there is no memory, drop the record and count it in f->lost. */
void ddp_record_file_add(ddp_record_file *f, const void *bytes, size_t count);

/* Write all waiting records. If that fails, none is written, and f->error is set. If now is 0,
 * writes only if a second has passed since the last flush. */
void ddp_record_file_flush(ddp_record_file *f, int now);

/* Return how many records are not in the file: dropped, or waiting because the last flush failed.
 * *why becomes the system's words for that failure; NULL if it did not fail. */
size_t ddp_record_file_lost(const ddp_record_file *f, const char **why);

/* Write the waiting records, close the file, and free f's memory. f->fd becomes -1, all else 0. To
 * learn how many records cannot be written, call first ddp_record_file_flush(f, 1), then
 * ddp_record_file_lost. */
void ddp_record_file_close(ddp_record_file *f);

#endif
