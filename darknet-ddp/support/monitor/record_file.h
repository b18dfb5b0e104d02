/* monitor/record_file.h: a file that grows by whole records, rows of a table say. Records for which
 * a full disk has no room wait in memory, up to 4 MB, and are written when there is room. The file
 * never ends in a part of a record. */
#ifndef DDP_MONITOR_RECORD_FILE_H
#define DDP_MONITOR_RECORD_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A record file. The code that opens it sets fd, and `good` if the file has records already; the
 * rest is zero. The code that makes records adds to `lost` those for which there was no memory. */
typedef struct ddp_record_file {
    int fd;        /* the file; -1: there is none */
    off_t good;    /* bytes of whole records in the file; the next record is written there */
    char *waiting; /* records that are not in the file yet */
    size_t bytes, room, records; /* bytes in use, bytes allocated, and records of `waiting` */
    int64_t flushed_ns;          /* ddp_clock_ns of the last flush */
    size_t lost;                 /* records that were dropped for want of memory */
    int error;                   /* errno of the last flush; 0: it succeeded */
} ddp_record_file;

/* Add bytes[0..count) as a record, which waits in memory for the next flush that writes. If more
 * than 4 MB would wait, or there is no memory, drop the record and count it in f->lost. */
void ddp_record_file_add(ddp_record_file *f, const void *bytes, size_t count);

/* Write all waiting records; none if the disk has no room for all. now 0: only if a second has
 * passed since the last flush. */
void ddp_record_file_flush(ddp_record_file *f, int now);

/* Return how many records are not in the file: lost for want of memory, or waiting because the last
 * flush failed. *why: the system's words for that failure; NULL: it did not fail. */
size_t ddp_record_file_lost(const ddp_record_file *f, const char **why);

/* Write the waiting records, close the file, and free f's memory. Drops records that cannot be
 * written: before it, call ddp_record_file_flush(f, 1), then ddp_record_file_lost. f->fd becomes
 * -1, all else 0. */
void ddp_record_file_close(ddp_record_file *f);

#endif
