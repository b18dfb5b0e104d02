/* Loaded before the C library's (LD_PRELOAD): what happens to a process of the job as soon as the
 * file FAULT_WHEN is there. FAULT=exit: rank FAULT_RANK calls exit(0) on its main thread, when that
 * looks at a clock (on another thread, exit would take oneDNN's tables away under the main thread,
 * which may then end the rank by signal 11). FAULT=leak: the rank takes more and more memory. Both
 * remove the file first, so that it happens once. FAULT=clock: for every process the time of day is
 * by as many seconds later from then on as the file says (-3600: an hour earlier); other clocks go
 * on as they were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_US = 10000, LEAK_US = 20000, LEAK_BYTES = 8 << 20, SLICE_NS = 10000000 };

/* Times of day are beyond this, times since the machine's start are not. */
static const time_t least_time_of_day_s = 1000000000;

static int is_fault(const char *name)
{
    const char *fault = getenv("FAULT");

    return fault && strcmp(fault, name) == 0;
}

/* ---- a rank that leaves, or leaks ---- */

static atomic_int is_leaving; /* the main thread is to call exit(0) */

static void leak(void)
{
    for (;;) {
        char *bytes = malloc(LEAK_BYTES);

        if (bytes)
            memset(bytes, 1, LEAK_BYTES);
        (void)usleep(LEAK_US);
    }
}

static void *look(void *unused)
{
    (void)unused;
    while (unlink(getenv("FAULT_WHEN")))
        (void)usleep(LOOK_US);
    if (is_fault("exit"))
        atomic_store(&is_leaving, 1);
    else
        leak();
    return NULL;
}

static void begin(void) __attribute__((constructor));

static void begin(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *wanted = getenv("FAULT_RANK");
    pthread_t thread;

    if (rank && wanted && getenv("FAULT_WHEN") && strcmp(rank, wanted) == 0)
        (void)pthread_create(&thread, NULL, look, NULL);
}

/* ---- a clock that is set back ---- */

static time_t set_by_s(void)
{
    const char *when = getenv("FAULT_WHEN");
    int fd = is_fault("clock") && when ? open(when, O_RDONLY | O_CLOEXEC) : -1;
    char text[32] = "";

    if (fd < 0)
        return 0;
    if (read(fd, text, sizeof text - 1) < 0)
        text[0] = '\0';
    (void)close(fd);
    return (time_t)strtol(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    int before = errno, rc;

    if (gettid() == getpid() && atomic_exchange(&is_leaving, 0))
        exit(0);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    rc = real(clock, now);
    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += set_by_s();
    errno = before;
    return rc;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec t;

    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    *now = (struct timeval){.tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}

static int is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Until a time of day: as with a real clock, one that is set back meanwhile makes it longer. */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    struct timespec now, slice;
    int rc;

    if (until->tv_sec < least_time_of_day_s)
        return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, until);
    do {
        (void)clock_gettime(CLOCK_REALTIME, &now);
        if (!is_before(&now, until))
            return ETIMEDOUT;
        (void)clock_gettime(CLOCK_MONOTONIC, &slice);
        slice.tv_nsec += SLICE_NS;
        slice.tv_sec += slice.tv_nsec / 1000000000;
        slice.tv_nsec %= 1000000000;
        rc = pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &slice);
    } while (rc == ETIMEDOUT);
    return rc;
}
