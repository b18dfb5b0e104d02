#include "monitor/csv.h"

#include "base/clock.h"
#include "base/file.h"
#include "monitor/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ddp_csv {
    ddp_record_file file;
    off_t last; /* where the last row begins that the file had when opened; 0: there is none, or a
                   remark follows it */
    const char *const *names;
    size_t columns;
    double *values; /* values of the row that is being read */
    char old[4096]; /* path of the file that was put aside; "": none was */
};

void ddp_csv_close(ddp_csv *c)
{
    if (!c)
        return;
    ddp_record_file_close(&c->file);
    free(c->values);
    free(c);
}

/* Read the values of a line. Returns 0 if it has not one for each column. */
static int read_row(double *values, size_t columns, char *line)
{
    size_t n = 0;

    for (char *word; (word = strsep(&line, ",")) && n < columns; n++) {
        char *end;

        values[n] = strtod(word, &end);
        if (end == word)
            values[n] = NAN;
    }
    return n == columns && !line;
}

static int is_header(const char *const *names, size_t columns, char *line)
{
    for (size_t i = 0; i < columns; i++) {
        const char *word = strsep(&line, ",");

        if (!word || strcmp(word, names[i]) != 0)
            return 0;
    }
    return !line;
}

/* Read the next whole line, without its end. Returns its bytes with the end; 0: there is none. */
static size_t next_line(FILE *file, char **line, size_t *size)
{
    ssize_t bytes = getline(line, size, file);

    if (bytes <= 0 || (*line)[bytes - 1] != '\n')
        return 0;
    (*line)[bytes - 1] = '\0';
    return (size_t)bytes;
}

int ddp_csv_any(const char *path, const char *const *names, size_t columns,
                int (*is_so)(void *ctx, const double *values), void *ctx)
{
    FILE *file = fopen(path, "re");
    double *values = calloc(columns, sizeof *values);
    char *line = NULL;
    size_t size = 0;
    int any = 0;

    if (file && values && next_line(file, &line, &size) && is_header(names, columns, line))
        while (!any && next_line(file, &line, &size))
            any = read_row(values, columns, line) && is_so(ctx, values);
    free(line);
    free(values);
    if (file)
        (void)fclose(file);
    return any;
}

/* Read rows up to `step`, and cut the file behind them. Returns 0 if its columns are others. */
static int take_up(ddp_csv *c, FILE *file, uint64_t step,
                   void (*each)(void *ctx, const double *values), void *ctx)
{
    char *line = NULL;
    size_t size = 0, bytes;
    int fits = 1;

    while (fits && (bytes = next_line(file, &line, &size)) > 0) {
        if (c->file.good == 0)
            fits = is_header(c->names, c->columns, line);
        else if (!read_row(c->values, c->columns, line)) /* somebody's remark, which stays */
            c->last = 0;
        else {
            if (!(c->values[0] <= (double)step))
                break;
            if (each)
                each(ctx, c->values);
            c->last = c->file.good;
        }
        c->file.good += fits ? (off_t)bytes : 0;
    }
    free(line);
    return c->file.good > 0 && ftruncate(fileno(file), c->file.good) == 0;
}

/* Go on in the file that is there. Returns 0 if there is none, or it has other columns. The file is
 * replaced by a copy: a run that was taken over may not have ended, and still writes to the file
 * that it has opened. If there is no room for a copy, the file itself is cut. */
static int go_on(ddp_csv *c, const char *path, uint64_t step,
                 void (*each)(void *ctx, const double *values), void *ctx)
{
    FILE *file;
    ddp_error full;
    int fits;

    (void)!ddp_file_copy(path, path, &full);
    file = fopen(path, "r+e");
    fits = file && take_up(c, file, step, each, ctx);
    if (file)
        (void)fclose(file);
    if (fits)
        c->file.fd = open(path, O_WRONLY | O_CLOEXEC);
    return c->file.fd >= 0;
}

/* Write PATH.old or PATH.old.N to old, the first that is not there. */
static void name_old(const char *path, char *old, size_t size)
{
    int number = 1;

    (void)snprintf(old, size, "%s.old", path);
    while (access(old, F_OK) == 0)
        (void)snprintf(old, size, "%s.old.%d", path, ++number);
}

ddp_status ddp_csv_copy(const char *path, char *old, size_t size, ddp_error *err)
{
    name_old(path, old, size);
    if (!ddp_file_copy(old, path, err) || rename(path, old) == 0)
        return DDP_OK;
    return err->code;
}

static ddp_status begin_anew(ddp_csv *c, const char *path, ddp_error *err)
{
    struct stat there;
    int is_empty;

    name_old(path, c->old, sizeof c->old);
    /* A full disk may have left an empty file. */
    is_empty = stat(path, &there) == 0 && there.st_size == 0;
    if ((is_empty ? unlink(path) : rename(path, c->old)) && errno != ENOENT)
        return ddp_fail(err, DDP_ERR_IO, "cannot put %s aside: %s", path, strerror(errno));
    if (is_empty || access(c->old, F_OK))
        c->old[0] = '\0';
    c->file.good = c->last = 0;
    c->file.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (c->file.fd < 0)
        return ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    for (size_t i = 0; i < c->columns; i++) {
        ddp_record_file_add(&c->file, ",", i ? 1 : 0);
        ddp_record_file_add(&c->file, c->names[i], strlen(c->names[i]));
    }
    ddp_record_file_add(&c->file, "\n", 1);
    c->file.records = 0; /* the header is no row */
    return DDP_OK;
}

ddp_status ddp_csv_open(ddp_csv **out, const char *path, const char *const *names, size_t columns,
                        uint64_t step, void (*each)(void *ctx, const double *values), void *ctx,
                        ddp_error *err)
{
    ddp_csv *c = calloc(1, sizeof *c);
    ddp_status st = DDP_OK;

    *out = NULL;
    if (c) {
        *c = (ddp_csv){.file.fd = -1, .names = names, .columns = columns};
        c->values = calloc(columns, sizeof *c->values);
    }
    if (!c || !c->values) {
        ddp_csv_close(c);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the rows of %s", path);
    }
    if (step == 0 || !go_on(c, path, step, each, ctx))
        st = begin_anew(c, path, err);
    if (st) {
        ddp_csv_close(c);
        return st;
    }
    c->file.flushed_ns = ddp_clock_ns();
    *out = c;
    return DDP_OK;
}

void ddp_csv_add(ddp_csv *c, const double *values)
{
    enum { VALUE_BYTES = 32 };
    char *text = malloc(c->columns * VALUE_BYTES + 2);
    size_t used = 0;

    if (!text) {
        c->file.lost++;
        return;
    }
    for (size_t i = 0; i < c->columns; i++) {
        if (i)
            text[used++] = ',';
        if (!isnan(values[i]))
            used += (size_t)snprintf(text + used, VALUE_BYTES - 1, "%.9g", values[i]);
    }
    text[used++] = '\n';
    ddp_record_file_add(&c->file, text, used);
    free(text);
    ddp_csv_flush(c, 0);
}

void ddp_csv_replace_last(ddp_csv *c, const double *values)
{
    if (c->last > 0 && ftruncate(c->file.fd, c->last) == 0)
        c->file.good = c->last;
    ddp_csv_add(c, values);
    ddp_csv_flush(c, 1);
}

void ddp_csv_flush(ddp_csv *c, int now)
{
    ddp_record_file_flush(&c->file, now);
}

void ddp_csv_bring_back(ddp_csv *c, const char *path)
{
    ddp_csv_flush(c, 1);
    ddp_file_bring_back(path, c->file.fd);
}

const char *ddp_csv_old(const ddp_csv *c)
{
    return c->old[0] ? c->old : NULL;
}

size_t ddp_csv_lost(const ddp_csv *c, const char **why)
{
    return ddp_record_file_lost(&c->file, why);
}
