/* Keeps a list of the memory and files that a thread takes while Darknet's code runs under
 * ddp_guard_run, so that they can be freed if that code fails. The linker redirects the library's
 * calls of malloc, fopen and the like to this file (--wrap in CMakeLists.txt). */
#include "library/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
ssize_t __real___getdelim(char **line, size_t *size, int end, FILE *file);
FILE *__real_fopen(const char *path, const char *mode);
int __real_fclose(FILE *file);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *freed);
ssize_t __wrap_getline(char **line, size_t *size, FILE *file);
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *file);
FILE *__wrap_fopen(const char *path, const char *mode);
int __wrap_fclose(FILE *file);

/* A list of addresses, each at most once. It is searched from its end, where what is freed mostly
 * is. */
struct noted {
    void **all;
    size_t count, room;
};

static _Thread_local int is_noting;
static _Thread_local struct noted memory, files;

static void *note(struct noted *n, void *address)
{
    if (!is_noting || !address)
        return address;
    if (n->count == n->room) {
        size_t more = n->room ? 2 * n->room : 1024;
        void **grown = __real_realloc(n->all, more * sizeof *grown);

        if (!grown)
            return address; /* it would leak, should the file be refused */
        n->all = grown;
        n->room = more;
    }
    n->all[n->count++] = address;
    return address;
}

static void forget(struct noted *n, const void *address)
{
    if (!is_noting || !address)
        return;
    for (size_t i = n->count; i-- > 0;)
        if (n->all[i] == address) {
            n->all[i] = n->all[--n->count];
            return;
        }
}

static void release(struct noted *n)
{
    __real_free(n->all);
    *n = (struct noted){0};
}

void ddp_memory_guard_begin(void)
{
    is_noting = 1;
}

void ddp_memory_guard_keep(void)
{
    is_noting = 0;
    release(&memory);
    release(&files);
}

void ddp_memory_guard_drop(void)
{
    is_noting = 0;
    for (size_t i = 0; i < files.count; i++)
        (void)__real_fclose(files.all[i]);
    for (size_t i = 0; i < memory.count; i++)
        __real_free(memory.all[i]);
    ddp_memory_guard_keep();
}

/* ---- the functions that stand in for libc's ---- */

void *__wrap_malloc(size_t size)
{
    return note(&memory, __real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return note(&memory, __real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    void *grown;

    forget(&memory, old);
    grown = __real_realloc(old, size);
    (void)note(&memory, grown || size == 0 ? grown : old);
    return grown;
}

char *__wrap_strdup(const char *text)
{
    return note(&memory, __real_strdup(text));
}

void __wrap_free(void *freed)
{
    forget(&memory, freed);
    __real_free(freed);
}

/* glibc's getline, which compilers inline, calls __getdelim. */
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *file)
{
    ssize_t length;

    forget(&memory, *line);
    length = __real___getdelim(line, size, end, file);
    (void)note(&memory, *line);
    return length;
}

ssize_t __wrap_getline(char **line, size_t *size, FILE *file)
{
    return __wrap___getdelim(line, size, '\n', file);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    return note(&files, __real_fopen(path, mode));
}

int __wrap_fclose(FILE *file)
{
    forget(&files, file);
    return __real_fclose(file);
}
