#include "checkpoint/owner_mark.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = DDP_OWNER_TEXT, WORD = DDP_OWNER_WORD };

/* ---- this process ---- */

static void read_line(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");

    out[0] = '\0';
    if (!f)
        return;
    if (!fgets(out, (int)size, f))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    (void)fclose(f);
}

/* When a process began; 0: there is none that runs. */
static uint64_t start_of(int64_t pid)
{
    char path[64], line[TEXT];
    char state = 'X';
    unsigned long long start = 0;
    const char *end;

    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    read_line(path, line, sizeof line);
    end = strrchr(line, ')'); /* behind a name of any letters */
    if (!end
        || sscanf(
               end + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &state, &start)
               != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : start;
}

static void describe_now(char *out, size_t size)
{
    time_t now = time(NULL);
    struct tm utc;

    if (!gmtime_r(&now, &utc) || strftime(out, size, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0)
        out[0] = '\0';
}

void ddp_owner_mark_of_self(ddp_owner_mark *m)
{
    uint64_t token = 0;
    ssize_t length = readlink("/proc/self/ns/pid", m->space, sizeof m->space - 1);

    m->space[length > 0 ? length : 0] = '\0';
    (void)!getrandom(&token, sizeof token, GRND_NONBLOCK);
    (void)snprintf(m->token, sizeof m->token, "%016" PRIx64, token);
    if (gethostname(m->host, sizeof m->host - 1))
        m->host[0] = '\0';
    read_line("/proc/sys/kernel/random/boot_id", m->boot, sizeof m->boot);
    m->pid = getpid();
    m->start = start_of(m->pid);
    describe_now(m->since, sizeof m->since);
}

/* ---- the file ---- */

static int format(const ddp_owner_mark *m, uint64_t count, char *out, size_t size)
{
    return snprintf(out, size,
                    "owner %s\nhost %s\nprocess %" PRId64 "\nstart %" PRIu64
                    "\nboot %s\nspace %s\nsince %s\nfile %" PRIu64 "\ncount %020" PRIu64 "\n",
                    m->token, m->host, m->pid, m->start, m->boot, m->space, m->since, m->file,
                    count);
}

/* Copy to out the text behind "key " in the first line that begins with it; else the empty text. */
static void find_value(const char *text, const char *key, char *out, size_t size)
{
    size_t length = strlen(key);

    out[0] = '\0';
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            (void)snprintf(out, size, "%.*s", (int)strcspn(line + length + 1, "\n"),
                           line + length + 1);
            return;
        }
}

static void parse(ddp_owner_mark *m)
{
    char number[WORD];

    find_value(m->text, "owner", m->token, sizeof m->token);
    find_value(m->text, "host", m->host, sizeof m->host);
    find_value(m->text, "boot", m->boot, sizeof m->boot);
    find_value(m->text, "space", m->space, sizeof m->space);
    find_value(m->text, "since", m->since, sizeof m->since);
    find_value(m->text, "process", number, sizeof number);
    m->pid = strtoll(number, NULL, 10);
    find_value(m->text, "start", number, sizeof number);
    m->start = strtoull(number, NULL, 10);
    find_value(m->text, "file", number, sizeof number);
    m->file = strtoull(number, NULL, 10);
}

/* Return the inode number of an open file; 0: not known. */
static uint64_t number_of(int fd)
{
    struct stat info;

    return fstat(fd, &info) ? 0 : (uint64_t)info.st_ino;
}

int ddp_owner_mark_read(const char *path, ddp_owner_mark *m)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    uint64_t file;
    ssize_t length;

    *m = (ddp_owner_mark){0};
    if (fd < 0)
        return 0;
    length = read(fd, m->text, sizeof m->text - 1);
    file = number_of(fd);
    (void)close(fd);
    if (length < 0)
        return 0;
    m->text[length] = '\0';
    parse(m);
    m->is_copy = m->file && file && m->file != file;
    return 1;
}

int ddp_owner_mark_write(const ddp_owner_mark *m, int fd, uint64_t count)
{
    char text[TEXT];
    ddp_owner_mark mine = *m;
    int length;
    int failed;

    mine.file = number_of(fd);
    length = format(&mine, count, text, sizeof text);
    failed = length <= 0 || length >= (int)sizeof text
             || pwrite(fd, text, (size_t)length, 0) != (ssize_t)length;

    return close(fd) || failed ? -1 : 0;
}

int ddp_owner_mark_is_here(const ddp_owner_mark *self, const ddp_owner_mark *m)
{
    return strcmp(self->host, m->host) == 0 && strcmp(self->boot, m->boot) == 0
           && strcmp(self->space, m->space) == 0 && m->pid > 0;
}

int ddp_owner_mark_runs(const ddp_owner_mark *m)
{
    return m->start != 0 && start_of(m->pid) == m->start;
}
