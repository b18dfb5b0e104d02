#include "cli/tune_file.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 14 };

static const char title[] = "# darknet-ddp buckets and chunks: found by -ddp_autotune 1; without "
                            "this file it measures again";
/* Of a time when chunks were not tuned. */
static const char older_title[] = "# darknet-ddp buckets: found by -ddp_autotune 1; without this "
                                  "file it measures again";

ddp_status ddp_tune_file_write(const char *path, const char *key, const ddp_tune_found *found,
                               ddp_error *err)
{
    const ddp_tuning *t = &found->tuning;
    ddp_file_checksum sum;
    ddp_file *f;
    int renamed;

    if (ddp_file_create(&f, path, err))
        return err->code;
    (void)fprintf(ddp_file_stream(f),
                  "%s\n%s\nbucket_mb %.17g\nfirst_bucket_mb %.17g\ndefer_mb %.17g\npriority "
                  "%d\nchunk_bytes %zu\nchunks_in_flight %d\n",
                  title, key, t->bucket_mb, t->first_bucket_mb, t->defer_mb, t->priority,
                  t->chunks.bytes, t->chunks.window);
    (void)fprintf(ddp_file_stream(f),
                  "step_s %.17g\nas_is_s %.17g\nchunks_step_s %.17g\nchunks_as_is_s %.17g\nend\n",
                  found->step_s, found->as_is_s, found->chunks_step_s, found->chunks_as_is_s);
    if (ddp_file_finish(f, &sum, err)) {
        ddp_file_abandon(f);
        return err->code;
    }
    return ddp_file_publish(f, &renamed, err);
}

static int is_between(double value, double low, double high)
{
    return value >= low && value <= high;
}

static int is_plausible(const ddp_tune_found *f)
{
    return is_between(f->tuning.bucket_mb, .001, 1024)
           && is_between(f->tuning.first_bucket_mb, .001, 1024)
           && is_between(f->tuning.defer_mb, 0, 1024) && is_between(f->tuning.priority, 0, 1)
           && is_between((double)f->tuning.chunks.bytes, 0, DDP_CHUNK_MOST_BYTES)
           && is_between(f->tuning.chunks.window, 0, DDP_CHUNKS_MOST)
           && is_between(f->step_s, 1e-9, 1e9) && is_between(f->as_is_s, 1e-9, 1e9)
           && is_between(f->chunks_step_s, 1e-9, 1e9) && is_between(f->chunks_as_is_s, 1e-9, 1e9);
}

/* text becomes what stands behind its first line, which must be `line`. */
static int take_line(const char **text, const char *line)
{
    size_t n = strlen(line);

    if (strncmp(*text, line, n) != 0 || (*text)[n] != '\n')
        return 0;
    *text += n + 1;
    return 1;
}

static int read_values(const char *text, ddp_tune_found *f)
{
    ddp_tuning *t = &f->tuning;
    int end = 0;

    return sscanf(text,
                  "bucket_mb %lf first_bucket_mb %lf defer_mb %lf priority %d chunk_bytes %zu "
                  "chunks_in_flight %d step_s %lf as_is_s %lf chunks_step_s %lf chunks_as_is_s %lf "
                  "end%n",
                  &t->bucket_mb, &t->first_bucket_mb, &t->defer_mb, &t->priority, &t->chunks.bytes,
                  &t->chunks.window, &f->step_s, &f->as_is_s, &f->chunks_step_s, &f->chunks_as_is_s,
                  &end)
               == 10
           && end > 0 && strcmp(text + end, "\n") == 0 && is_plausible(f);
}

int ddp_tune_file_read(const char *path, const char *key, ddp_tune_found *found, const char **why)
{
    ddp_tune_found read = {0};
    const char *text;
    void *data = NULL;
    size_t bytes;
    uint64_t size;
    ddp_error err;

    *why = NULL;
    if (access(path, F_OK))
        return 0;
    if (ddp_file_read(path, FILE_BYTES, &data, &bytes, &size, &err)) {
        *why = "cannot be read";
        return 0;
    }
    text = data;
    if (take_line(&text, older_title))
        *why = "is of an older version";
    else if (!take_line(&text, title))
        *why = "is damaged";
    else if (!take_line(&text, key))
        *why = "is of another run";
    else if (!read_values(text, &read))
        *why = "is damaged";
    else
        *found = read;
    free(data);
    return !*why;
}
