#include "guarded.h"

#include <darknet.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUCKETS = 1 << 12, FILES = 4 };

void *__real_malloc(size_t size);
void *__real_realloc(void *x, size_t size);
void __real_free(void *x);
FILE *__real_fopen(const char *path, const char *mode);
int __real_fclose(FILE *f);
ssize_t __real___getdelim(char **line, size_t *size, int end, FILE *f);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *x, size_t size);
void __wrap_free(void *x);
char *__wrap_strdup(const char *text);
FILE *__wrap_fopen(const char *path, const char *mode);
int __wrap_fclose(FILE *f);
ssize_t __wrap_getline(char **line, size_t *size, FILE *f);
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *f);

/* Something that is still held: memory, or an open file of size 0. */
struct held {
    void *at;
    size_t size;
    int is_file;
    struct held *next;
};

static struct {
    int active;
    size_t bytes, most;
    struct held *buckets[BUCKETS];
    jmp_buf end;
} run;

static struct held **place_of(const void *at)
{
    struct held **p = &run.buckets[(uintptr_t)at / 16 % BUCKETS];

    while (*p && (*p)->at != at)
        p = &(*p)->next;
    return p;
}

static void hold(void *at, size_t size, int is_file)
{
    struct held **p, *h;

    if (!at || !run.active)
        return;
    h = __real_malloc(sizeof *h);
    p = &run.buckets[(uintptr_t)at / 16 % BUCKETS];
    *h = (struct held){at, size, is_file, *p};
    *p = h;
    run.bytes += size;
}

static void let_go(const void *at)
{
    struct held **p = place_of(at), *h = *p;

    if (!h)
        return;
    run.bytes -= h->size;
    *p = h->next;
    __real_free(h);
}

static int is_too_much(size_t size)
{
    return run.active && (size > run.most || run.bytes > run.most - size);
}

void *__wrap_malloc(size_t size)
{
    void *x = is_too_much(size) ? NULL : __real_malloc(size);

    hold(x, size, 0);
    return x;
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t bytes;
    void *x;

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    x = __wrap_malloc(bytes);
    if (x)
        memset(x, 0, bytes);
    return x;
}

void *__wrap_realloc(void *x, size_t size)
{
    void *y = is_too_much(size) ? NULL : __real_realloc(x, size);

    if (!y)
        return NULL;
    if (x)
        let_go(x);
    hold(y, size, 0);
    return y;
}

void __wrap_free(void *x)
{
    if (x)
        let_go(x);
    __real_free(x);
}

char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    FILE *f = __real_fopen(path, mode);

    hold(f, 0, 1);
    return f;
}

int __wrap_fclose(FILE *f)
{
    let_go(f);
    return __real_fclose(f);
}

/* The C library allocates a line by itself, past the functions above. */
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *f)
{
    ssize_t got;

    if (*line)
        let_go(*line);
    got = __real___getdelim(line, size, end, f);
    hold(*line, *size, 0);
    return got;
}

ssize_t __wrap_getline(char **line, size_t *size, FILE *f)
{
    return __wrap___getdelim(line, size, '\n', f);
}

static void take_back(void)
{
    for (size_t i = 0; i < BUCKETS; i++)
        while (run.buckets[i]) {
            struct held *h = run.buckets[i];

            run.buckets[i] = h->next;
            if (h->is_file)
                (void)__real_fclose(h->at);
            else
                __real_free(h->at);
            __real_free(h);
        }
    run.bytes = 0;
}

static void on_fatal(int status, const char *message)
{
    (void)status;
    (void)message;
    longjmp(run.end, 1);
}

int guarded_run(void (*f)(void *arg), void *arg, size_t most)
{
    volatile int ended = 0;

    fatal_handler = on_fatal;
    srand(1);
    run.most = most;
    run.active = 1;
    if (!setjmp(run.end)) {
        f(arg);
        ended = 1;
    }
    run.active = 0;
    take_back();
    return ended;
}

const char *guarded_file(int number, const uint8_t *data, size_t size)
{
    static char paths[FILES][32];
    static int files[FILES];
    int *fd = &files[number];

    if (*fd > 0)
        (void)close(*fd);
    *fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (*fd < 0 || write(*fd, data, size) != (ssize_t)size)
        abort();
    (void)snprintf(paths[number], sizeof paths[number], "/proc/self/fd/%d", *fd);
    return paths[number];
}
