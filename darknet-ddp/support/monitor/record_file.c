#include "monitor/record_file.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t flush_ns = 1000000000;
static const size_t most_waiting = 4 << 20; /* bytes */

/* Make room for `more` more waiting bytes. Returns 0 if there is none. */
static int reserve(ddp_record_file *f, size_t more)
{
    size_t room = f->room ? f->room : 4096;
    char *waiting;

    while (room < f->bytes + more)
        room *= 2;
    if (room == f->room)
        return 1;
    waiting = room > most_waiting ? NULL : realloc(f->waiting, room);
    if (!waiting)
        return 0;
    f->waiting = waiting;
    f->room = room;
    return 1;
}

void ddp_record_file_add(ddp_record_file *f, const void *bytes, size_t count)
{
    if (!reserve(f, count)) {
        f->lost++;
        return;
    }
    memcpy(f->waiting + f->bytes, bytes, count);
    f->bytes += count;
    f->records++;
}

/* Write all waiting records, or none of them. Returns 0 or errno. */
static int write_all(const ddp_record_file *f)
{
    size_t done = 0;

    while (done < f->bytes) {
        ssize_t n = pwrite(f->fd, f->waiting + done, f->bytes - done, f->good + (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int error = errno;

            (void)!ftruncate(f->fd, f->good);
            return error;
        }
        done += (size_t)n;
    }
    return 0;
}

void ddp_record_file_flush(ddp_record_file *f, int now)
{
    if (!now && ddp_clock_ns() - f->flushed_ns < flush_ns)
        return;
    f->flushed_ns = ddp_clock_ns();
    f->error = write_all(f);
    if (f->error)
        return;
    f->good += (off_t)f->bytes;
    f->bytes = 0;
    f->records = 0;
}

size_t ddp_record_file_lost(const ddp_record_file *f, const char **why)
{
    *why = f->error ? strerror(f->error) : NULL;
    return f->lost + (f->error ? f->records : 0);
}

void ddp_record_file_close(ddp_record_file *f)
{
    if (f->fd >= 0) {
        ddp_record_file_flush(f, 1);
        (void)close(f->fd);
    }
    free(f->waiting);
    *f = (ddp_record_file){.fd = -1};
}
