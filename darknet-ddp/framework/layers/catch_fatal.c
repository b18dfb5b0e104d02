#include "layers/catch_fatal.h"

#include "darknet.h"
#include <setjmp.h>
#include <stdio.h>

struct attempt {
    jmp_buf place; /* where the caller goes on */
    char *why;
    size_t size;
};

/* The innermost attempt of this thread. */
static _Thread_local struct attempt *current;

/* Darknet's fatal_in_thread, which must not return. */
static void give_up(const char *message)
{
    snprintf(current->why, current->size, "%s", message);
    longjmp(current->place, 1);
}

int catch_fatal(void (*work)(void *ctx), void *ctx, char *why, size_t size)
{
    struct attempt a = {.why = why, .size = size}, *outer = current;
    void (*handler)(const char *message) = fatal_in_thread;
    int failed;
    current = &a;
    fatal_in_thread = give_up;
    failed = setjmp(a.place);
    if (!failed)
        work(ctx);
    fatal_in_thread = handler;
    current = outer;
    return !failed;
}
