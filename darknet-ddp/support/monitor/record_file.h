/* monitor/record_file.h: a file that grows by whole records, rows of a table say. What a full disk
 * has no room for waits in memory, up to 4 MB, and is written when there is room; the file never
 * ends in a part of a record. */
#ifndef DDP_MONITOR_RECORD_FILE_H
#define DDP_MONITOR_RECORD_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whoever opens it sets fd, -1 where there is no file, and good where the file has records already;
 * all else is zero. To lost it adds the records that it has no memory to make. */
typedef struct ddp_record_file {
    int fd;
    off_t good;    /* bytes of whole records in the file; the next ones come behind them */
    char *waiting; /* records that are not in the file yet */
    size_t bytes, room, records;
    int64_t flushed_ns;
    size_t lost; /* records, without memory to wait in */
    int error;   /* errno of the last failure; 0: what had to be written was */
} ddp_record_file;

/* bytes[0..count) becomes a record. It is written with those of the next second. */
void ddp_record_file_add(ddp_record_file *f, const void *bytes, size_t count);

/* Write what waits. now 0: unless a second has not passed since the last time. */
void ddp_record_file_flush(ddp_record_file *f, int now);

/* How many records are not in the file and had to be. *why: the reason, NULL: no memory. */
size_t ddp_record_file_lost(const ddp_record_file *f, const char **why);

/* Writes what waits. */
void ddp_record_file_close(ddp_record_file *f);

#endif
