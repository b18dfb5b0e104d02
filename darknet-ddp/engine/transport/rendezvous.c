#include "transport/rendezvous.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_NAP_NS = 5000000, LONGEST_NAP_NS = 160000000, MOST_BYTES = 1 << 30 };

static const uint64_t magic = UINT64_C(0x317465656d706464);

/* A file is this, size numbers, and what was gathered so far, each piece behind its length. */
struct head {
    uint64_t magic;
    uint64_t number; /* of this start */
    int32_t rank, size;
};

/* A rank's file as it was read. */
struct view {
    struct head head;
    const uint64_t *seen;
    const char *pieces;
    size_t bytes; /* of them */
    void *text;   /* all of it; NULL: there is none, or it is no such file */
};

struct ddp_rendezvous {
    ddp_rendezvous_config config;
    uint64_t number;
    uint64_t *seen; /* of each rank; its own among them */
    char *pieces;
    size_t bytes;
};

static ddp_rendezvous_config wanted;

void ddp_group_use_rendezvous(const ddp_rendezvous_config *config)
{
    wanted = config ? *config : (ddp_rendezvous_config){0};
}

const ddp_rendezvous_config *ddp_group_rendezvous(void)
{
    return wanted.path ? &wanted : NULL;
}

/* ---- files ---- */

static void name_file(const ddp_rendezvous *r, int rank, char *path)
{
    (void)snprintf(path, PATH_MAX, "%s.%d", r->config.path, rank);
}

static ddp_status cannot_write(const char *path, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

/* Create a file that only this user can read, since gathered data hold keys. NULL: failed. */
static FILE *create_private(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;

    if (fd >= 0 && !f)
        (void)close(fd);
    return f;
}

static ddp_status write_own(const ddp_rendezvous *r, ddp_error *err)
{
    const struct head head = {magic, r->number, r->config.rank, r->config.size};
    size_t size = (size_t)r->config.size;
    char path[PATH_MAX], part[PATH_MAX + 32];
    int written;
    FILE *f;

    name_file(r, r->config.rank, path);
    (void)snprintf(part, sizeof part, "%s.%016llx", path, (unsigned long long)r->number);
    f = create_private(part);
    if (!f)
        return cannot_write(path, err);
    written = fwrite(&head, sizeof head, 1, f) == 1
              && fwrite(r->seen, sizeof *r->seen, size, f) == size
              && (r->bytes == 0 || fwrite(r->pieces, 1, r->bytes, f) == r->bytes);
    if (fclose(f) == 0 && written && rename(part, path) == 0)
        return DDP_OK;
    (void)cannot_write(path, err);
    (void)unlink(part);
    return err->code;
}

/* text is NULL where it is not there yet: the next look may find it. */
static struct view look(const ddp_rendezvous *r, int rank)
{
    struct view v = {.text = NULL};
    char path[PATH_MAX];
    size_t bytes, used;
    uint64_t size;
    ddp_error ignored;
    void *text;

    name_file(r, rank, path);
    if (ddp_file_read(path, MOST_BYTES, &text, &bytes, &size, &ignored))
        return v;
    if (bytes >= sizeof v.head)
        memcpy(&v.head, text, sizeof v.head);
    used = sizeof v.head + (size_t)v.head.size * sizeof *v.seen;
    if (v.head.magic != magic || v.head.rank != rank || v.head.size <= rank || used > bytes) {
        free(text);
        return v;
    }
    v.text = text;
    v.seen = (const void *)((const char *)text + sizeof v.head);
    v.pieces = (const char *)text + used;
    v.bytes = bytes - used;
    return v;
}

/* Has the rank of this file seen this one's number? */
static int knows_us(const ddp_rendezvous *r, const struct view *v)
{
    return v->text && r->config.rank < v->head.size && v->seen[r->config.rank] == r->number;
}

/* ---- waiting ---- */

struct wait {
    int64_t began_ns;
    long nap_ns;
};

static ddp_status not_come(const ddp_rendezvous *r, int missing, ddp_error *err)
{
    struct view v = look(r, missing);
    double waited = (double)r->config.timeout_ns / 1e9;

    if (v.text && v.head.size != r->config.size)
        (void)ddp_fail(err, DDP_ERR_COMM,
                       "rank %d has not come to %s for %.9g s: its file is of a start of %d ranks, "
                       "and here they are %d",
                       missing, r->config.path, waited, (int)v.head.size, r->config.size);
    else
        (void)ddp_fail(err, DDP_ERR_COMM, "rank %d has not come to %s for %.9g s", missing,
                       r->config.path, waited);
    free(v.text);
    return err->code;
}

static ddp_status keep_waiting(const ddp_rendezvous *r, struct wait *w, int missing, ddp_error *err)
{
    struct timespec nap = {0, w->nap_ns};

    if (r->config.timeout_ns > 0 && ddp_clock_ns() - w->began_ns > r->config.timeout_ns)
        return not_come(r, missing, err);
    (void)nanosleep(&nap, NULL);
    if (w->nap_ns < LONGEST_NAP_NS)
        w->nap_ns *= 2;
    return DDP_OK;
}

static struct wait begin_wait(void)
{
    return (struct wait){ddp_clock_ns(), FIRST_NAP_NS};
}

/* ---- coming ---- */

/* Two processes that call themselves the same rank write over each other's file. */
static ddp_status check_own(const ddp_rendezvous *r, ddp_error *err)
{
    struct view v = look(r, r->config.rank);
    int other = v.text && v.head.number != r->number;

    free(v.text);
    if (other)
        return ddp_fail(err, DDP_ERR_USAGE, "another process has come to %s as rank %d, too",
                        r->config.path, r->config.rank);
    return DDP_OK;
}

/* Take what a rank's file says. *changed: this rank's file is to say so. */
static ddp_status meet(ddp_rendezvous *r, int rank, int *changed, int *missing, ddp_error *err)
{
    struct view v = look(r, rank);
    int is_new = v.text && v.head.number != r->seen[rank];
    ddp_status st = DDP_OK;

    if (is_new) {
        r->seen[rank] = v.head.number;
        *changed = 1;
    }
    if (!is_new && knows_us(r, &v) && v.head.size != r->config.size)
        st = ddp_fail(err, DDP_ERR_USAGE, "rank %d is of %d ranks, and rank %d of %d", rank,
                      (int)v.head.size, r->config.rank, r->config.size);
    else if (!knows_us(r, &v) && *missing < 0)
        *missing = rank;
    free(v.text);
    return st;
}

/* Ends when each has seen this rank's number, and this rank's file says that it has seen theirs. */
static ddp_status meet_all(ddp_rendezvous *r, ddp_error *err)
{
    struct wait wait = begin_wait();
    int changed = 1, missing = -1;

    r->seen[r->config.rank] = r->number;
    while (changed || missing >= 0) {
        if (changed ? write_own(r, err) : check_own(r, err))
            return err->code;
        if (missing >= 0 && keep_waiting(r, &wait, missing, err))
            return err->code;
        changed = 0;
        missing = -1;
        for (int i = 0; i < r->config.size; i++)
            if (i != r->config.rank && meet(r, i, &changed, &missing, err))
                return err->code;
    }
    return DDP_OK;
}

static void release(ddp_rendezvous *r)
{
    free(r->seen);
    free(r->pieces);
    free(r);
}

ddp_status ddp_rendezvous_open(ddp_rendezvous **out, const ddp_rendezvous_config *config,
                               ddp_error *err)
{
    ddp_rendezvous *r = calloc(1, sizeof *r);
    ddp_status st;

    *out = NULL;
    if (r)
        r->seen = calloc((size_t)config->size, sizeof *r->seen);
    if (!r || !r->seen) {
        free(r);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d ranks", config->size);
    }
    r->config = *config;
    if (getrandom(&r->number, sizeof r->number, 0) != (ssize_t)sizeof r->number)
        r->number = (uint64_t)ddp_clock_ns() ^ (uint64_t)getpid() << 40;
    st = meet_all(r, err);
    if (st == DDP_ERR_USAGE) /* the other is to see it, too */
        release(r);
    else if (st)
        ddp_rendezvous_close(r);
    else
        *out = r;
    return st;
}

/* ---- gathering ---- */

/* Returns 1 if it was there. Pieces lie behind each other, of the same lengths on all ranks. */
static int take_piece(const struct view *v, size_t at, size_t bytes, void *out)
{
    uint64_t length;

    if (v->bytes < at + sizeof length + bytes)
        return 0;
    memcpy(&length, v->pieces + at, sizeof length);
    if (length != bytes)
        return 0;
    memcpy(out, v->pieces + at + sizeof length, bytes);
    return 1;
}

static ddp_status take_from(const ddp_rendezvous *r, int rank, size_t at, void *out, size_t bytes,
                            ddp_error *err)
{
    struct wait wait = begin_wait();

    for (;;) {
        struct view v = look(r, rank);
        int again = v.text && v.head.number != r->seen[rank];
        int taken = v.text && !again && take_piece(&v, at, bytes, out);

        free(v.text);
        if (again)
            return ddp_fail(err, DDP_ERR_COMM, "rank %d has started again at %s", rank,
                            r->config.path);
        if (taken)
            return DDP_OK;
        if (keep_waiting(r, &wait, rank, err))
            return err->code;
    }
}

static ddp_status add_piece(ddp_rendezvous *r, const void *mine, size_t bytes, ddp_error *err)
{
    uint64_t length = bytes;
    char *more = realloc(r->pieces, r->bytes + sizeof length + bytes);

    if (!more)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu bytes", bytes);
    r->pieces = more;
    memcpy(more + r->bytes, &length, sizeof length);
    memcpy(more + r->bytes + sizeof length, mine, bytes);
    r->bytes += sizeof length + bytes;
    return write_own(r, err);
}

ddp_status ddp_rendezvous_gather(ddp_rendezvous *r, const void *mine, void *all, size_t bytes,
                                 ddp_error *err)
{
    size_t at = r->bytes;

    if (add_piece(r, mine, bytes, err))
        return err->code;
    for (int i = 0; i < r->config.size; i++) {
        char *place = (char *)all + (size_t)i * bytes;

        if (i == r->config.rank)
            memcpy(place, mine, bytes);
        else if (take_from(r, i, at, place, bytes, err))
            return err->code;
    }
    return DDP_OK;
}

void ddp_rendezvous_give_up(ddp_rendezvous *r)
{
    if (r)
        release(r);
}

void ddp_rendezvous_close(ddp_rendezvous *r)
{
    char path[PATH_MAX];
    ddp_error ignored;

    if (!r)
        return;
    name_file(r, r->config.rank, path);
    if (check_own(r, &ignored) == DDP_OK)
        (void)unlink(path);
    release(r);
}
