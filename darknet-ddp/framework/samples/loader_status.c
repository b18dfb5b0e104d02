#include "samples/loader_status.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 64, PATH_BYTES = 512 };

static const int64_t least_ns = 1000000000;

static struct {
    int64_t since_ns; /* 0: free */
    char path[PATH_BYTES];
} places[THREADS];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards places */

/* The calling thread: 1 if it loads a sample; its place, -1: none. */
static _Thread_local int loads;
static _Thread_local int place = -1;

void ddp_loading_begin(void)
{
    loads = 1;
}

static int free_place(void)
{
    for (int i = 0; i < THREADS; i++)
        if (places[i].since_ns == 0)
            return i;
    return -1;
}

void ddp_loading_reads(const char *path)
{
    if (!loads)
        return;
    (void)pthread_mutex_lock(&mutex);
    if (place < 0)
        place = free_place();
    if (place >= 0) {
        places[place].since_ns = ddp_clock_ns();
        (void)snprintf(places[place].path, PATH_BYTES, "%s", path);
    }
    (void)pthread_mutex_unlock(&mutex);
}

void ddp_loading_end(void)
{
    loads = 0;
    if (place < 0)
        return;
    (void)pthread_mutex_lock(&mutex);
    places[place].since_ns = 0;
    (void)pthread_mutex_unlock(&mutex);
    place = -1;
}

void ddp_loading_describe(char *out, size_t size)
{
    int64_t now = ddp_clock_ns(), longest = 0;

    out[0] = '\0';
    (void)pthread_mutex_lock(&mutex);
    for (int i = 0; i < THREADS; i++) {
        int64_t passed = places[i].since_ns ? now - places[i].since_ns : 0;

        if (passed < least_ns || passed <= longest)
            continue;
        longest = passed;
        (void)snprintf(out, size, "a loader has been at %s, or its labels, for %.0f s",
                       places[i].path, (double)passed / 1e9);
    }
    (void)pthread_mutex_unlock(&mutex);
}
