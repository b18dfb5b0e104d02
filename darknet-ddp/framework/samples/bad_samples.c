#include "samples/bad_samples.h"

#include "base/random.h"
#include "check/lists.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 64 };
enum {
    INSTEAD_DETAIL = 0xfe
}; /* detail of the sampler's purpose; samples/sampler.c has the others */

struct bad_line {
    size_t line;
    char *sentence;
};

struct bad_sample {
    size_t number;
    int ends; /* 1: it ends the run */
};

struct ddp_bad_samples {
    uint64_t seed;
    char *const *paths;
    size_t count;
    const char *file;      /* path of the list; NULL: not known */
    pthread_mutex_t mutex; /* guards all that follows */
    struct bad_line *bad;  /* sorted by line */
    atomic_size_t bad_count;
    int one_ends;
    struct bad_sample *samples; /* replaced samples */
    size_t sample_count;
};

/* The sample that this thread loads: 1 if another line is loaded, 1 if it is blank, lines in a row
 * that could not be read. */
static _Thread_local struct {
    int replaced, blank;
    size_t tried;
} now;

ddp_status ddp_bad_samples_open(ddp_bad_samples **out, int one_ends, ddp_error *err)
{
    ddp_bad_samples *b = calloc(1, sizeof *b);

    *out = b;
    if (!b)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for what cannot be read");
    b->one_ends = one_ends;
    (void)pthread_mutex_init(&b->mutex, NULL);
    return DDP_OK;
}

void ddp_bad_samples_close(ddp_bad_samples *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->bad_count; i++)
        free(b->bad[i].sentence);
    free(b->bad);
    free(b->samples);
    (void)pthread_mutex_destroy(&b->mutex);
    free(b);
}

void ddp_bad_samples_set_seed(ddp_bad_samples *b, uint64_t seed)
{
    b->seed = seed;
}

void ddp_bad_samples_set_list(ddp_bad_samples *b, char *const *paths, size_t n)
{
    b->paths = paths;
    b->count = n;
}

void ddp_bad_samples_set_file(ddp_bad_samples *b, const char *file)
{
    b->file = file;
}

/* ---- lines; the mutex is held ---- */

/* Return the place of a line in `bad`, where it is or would be. */
static size_t place_of(const ddp_bad_samples *b, size_t line)
{
    size_t at = 0;

    while (at < b->bad_count && b->bad[at].line < line)
        at++;
    return at;
}

static int is_bad(const ddp_bad_samples *b, size_t line)
{
    size_t at = place_of(b, line);

    return at < b->bad_count && b->bad[at].line == line;
}

/* Find a line that is not bad: by draws that depend on the line, then among the lines behind it. */
static size_t find_instead(const ddp_bad_samples *b, size_t line, size_t n)
{
    for (size_t i = 0; i < TRIES; i++) {
        uint32_t topic = ddp_random_topic(DDP_PURPOSE_SAMPLER, INSTEAD_DETAIL);
        size_t drawn = (size_t)ddp_random_below(b->seed, topic, line, (uint32_t)i, n);

        if (!is_bad(b, drawn))
            return drawn;
    }
    for (size_t i = 1; i < n; i++)
        if (!is_bad(b, (line + i) % n))
            return (line + i) % n;
    return line;
}

size_t ddp_bad_samples_line_to_load(ddp_bad_samples *b, size_t line, size_t n)
{
    if (b->bad_count == 0 || n != b->count)
        return line;
    (void)pthread_mutex_lock(&b->mutex);
    if (is_bad(b, line)) {
        line = find_instead(b, line, n);
        now.replaced = 1;
    }
    (void)pthread_mutex_unlock(&b->mutex);
    return line;
}

static size_t line_of(const ddp_bad_samples *b, const char *path)
{
    for (size_t i = 0; i < b->count && path; i++)
        if (b->paths[i] == path)
            return i;
    return b->count;
}

/* Return why and where a line cannot be read; the caller frees it. NULL: no memory. */
static char *sentence_of(const ddp_bad_samples *b, size_t line, const char *why)
{
    char *text;
    int bytes;

    if (b->file)
        bytes =
            asprintf(&text, "%.600s (%s:%zu)", why, b->file, ddp_list_line_number(b->file, line));
    else
        bytes = asprintf(&text, "%.600s (line %zu of the training list)", why, line + 1);
    return bytes < 0 ? NULL : text;
}

/* Add a bad line. Returns its sentence, which the caller frees. */
static char *add_bad_line(ddp_bad_samples *b, size_t line, const char *why)
{
    size_t at = place_of(b, line), count = b->bad_count;
    struct bad_line *bad = reallocarray(b->bad, count + 1, sizeof *bad);
    char *sentence;

    if (!bad)
        return NULL;
    b->bad = bad;
    sentence = sentence_of(b, line, why);
    if (!sentence)
        return NULL;
    memmove(&bad[at + 1], &bad[at], (count - at) * sizeof *bad);
    bad[at] = (struct bad_line){line, sentence};
    b->bad_count = count + 1;
    return strdup(sentence);
}

static int next_of(const ddp_bad_samples *b, size_t line, int can_be_blank)
{
    int again = is_bad(b, line) && b->bad_count < b->count && now.tried < TRIES;

    if (can_be_blank && (b->one_ends || !again))
        return DDP_BAD_SAMPLE_BLANK;
    return again ? DDP_BAD_SAMPLE_AGAIN : DDP_BAD_SAMPLE_END;
}

char *ddp_bad_samples_note_unreadable(ddp_bad_samples *b, const char *path, const char *why,
                                      int can_be_blank, int *next)
{
    size_t line = line_of(b, path);
    char *sentence = NULL;

    now.replaced = 0;
    now.tried++;
    *next = DDP_BAD_SAMPLE_END;
    if (line == b->count)
        return NULL;
    (void)pthread_mutex_lock(&b->mutex);
    if (!is_bad(b, line))
        sentence = add_bad_line(b, line, why);
    *next = next_of(b, line, can_be_blank);
    (void)pthread_mutex_unlock(&b->mutex);
    now.replaced = now.blank = *next == DDP_BAD_SAMPLE_BLANK;
    return sentence;
}

/* ---- samples ---- */

/* Return 1 if a sample is noted: some are loaded twice, for a network that has another size
 * meanwhile. */
static int is_known(const ddp_bad_samples *b, size_t sample)
{
    for (size_t i = 0; i < b->sample_count; i++)
        if (b->samples[i].number == sample)
            return 1;
    return 0;
}

void ddp_bad_samples_note_loaded(ddp_bad_samples *b, size_t sample)
{
    struct bad_sample *samples;
    int replaced = now.replaced, ends = b->one_ends || now.blank;

    memset(&now, 0, sizeof now);
    if (!replaced)
        return;
    (void)pthread_mutex_lock(&b->mutex);
    samples =
        is_known(b, sample) ? NULL : reallocarray(b->samples, b->sample_count + 1, sizeof *samples);
    if (samples) {
        b->samples = samples;
        b->samples[b->sample_count++] = (struct bad_sample){sample, ends};
    }
    (void)pthread_mutex_unlock(&b->mutex);
}

size_t ddp_bad_samples_count_ending(ddp_bad_samples *b, size_t images)
{
    size_t count = 0;

    (void)pthread_mutex_lock(&b->mutex);
    for (size_t i = 0; i < b->sample_count; i++)
        count += b->samples[i].number < images && b->samples[i].ends;
    (void)pthread_mutex_unlock(&b->mutex);
    return count;
}

size_t ddp_bad_samples_take_replaced(ddp_bad_samples *b, size_t images)
{
    size_t kept = 0, counted;

    (void)pthread_mutex_lock(&b->mutex);
    for (size_t i = 0; i < b->sample_count; i++)
        if (b->samples[i].number >= images)
            b->samples[kept++] = b->samples[i];
    counted = b->sample_count - kept;
    b->sample_count = kept;
    (void)pthread_mutex_unlock(&b->mutex);
    return counted;
}

char *ddp_bad_samples_describe(ddp_bad_samples *b)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    (void)pthread_mutex_lock(&b->mutex);
    for (size_t i = 0; i < b->bad_count; i++)
        (void)fprintf(out, "%s\n", b->bad[i].sentence);
    (void)pthread_mutex_unlock(&b->mutex);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}
