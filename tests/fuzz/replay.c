/* A harness without libFuzzer: fuzz_NAME [-seconds N] FOLDER...
 * Every file of the folders goes through it once, NAME.hex as the bytes that its hexadecimal digits
 * are; then, for N seconds, files with some bytes changed, the same ones each time. A crash fails,
 * and so does more memory than 2 GiB: the last line that is printed says with which file and
 * change. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_BYTES = 1 << 20,
    PATH_BYTES = 4096,
    MOST_FILES = 4096,
    MOST_EDITS = 6,
    MOST_MOVED = 64
};

static const rlim_t memory = (rlim_t)2 << 30;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_hex(const char *path)
{
    size_t length = strlen(path);

    return length > 4 && strcmp(path + length - 4, ".hex") == 0;
}

/* In place; what is no digit counts nowhere. Returns how many bytes there are. */
static size_t decode(uint8_t *data, size_t size)
{
    size_t digits = 0;

    for (size_t i = 0; i < size; i++) {
        int c = tolower(data[i]), digit = c >= 'a' ? c - 'a' + 10 : c - '0';

        if (!isxdigit(c))
            continue;
        data[digits / 2] = (uint8_t)(digits % 2 ? data[digits / 2] * 16 + digit : digit);
        digits++;
    }
    return digits / 2;
}

struct input {
    uint8_t *data;
    size_t size;
};

static struct input read_input(const char *path)
{
    struct input in = {.data = malloc(MOST_BYTES)};
    FILE *f = fopen(path, "rb");

    if (!f || !in.data)
        abort();
    in.size = fread(in.data, 1, MOST_BYTES, f);
    (void)fclose(f);
    if (is_hex(path))
        in.size = decode(in.data, in.size);
    return in;
}

static void run(struct input in)
{
    uint8_t *data = realloc(in.data, in.size + !in.size); /* so that a sanitizer knows its end */

    (void)LLVMFuzzerTestOneInput(data, in.size);
    free(data);
}

static uint32_t draw(uint32_t *state, size_t n)
{
    *state = *state * 1664525U + 1013904223U;
    return (uint32_t)((*state >> 8) % (n ? n : 1));
}

/* A byte set, one bit flipped, some bytes left out, doubled, or copied from elsewhere in it. */
static void edit(struct input *in, uint32_t *random)
{
    static const uint8_t bounds[] = {0, 1, 127, 128, 255, '0', '9', '-'};
    size_t at = draw(random, in->size), n = 1 + draw(random, MOST_MOVED), from;

    if (in->size == 0)
        return;
    n = n < in->size - at ? n : in->size - at;
    switch (draw(random, 6)) {
    case 0:
        in->data[at] = (uint8_t)draw(random, 256);
        break;
    case 1:
        in->data[at] ^= (uint8_t)(1U << draw(random, 8));
        break;
    case 2:
        in->data[at] = bounds[draw(random, sizeof bounds)];
        break;
    case 3:
        memmove(in->data + at, in->data + at + n, in->size - at - n);
        in->size -= n;
        break;
    case 4:
        if (in->size + n > MOST_BYTES)
            break;
        memmove(in->data + at + n, in->data + at, in->size - at);
        in->size += n;
        break;
    default:
        from = draw(random, in->size - n + 1);
        memmove(in->data + at, in->data + from, n);
    }
}

static double seconds_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *paths[MOST_FILES];
static size_t path_count;

static void run_changed(int out, double seconds)
{
    double end = seconds_now() + seconds;
    uint32_t change = 0;

    for (; path_count > 0 && seconds_now() < end; change++) {
        const char *path = paths[change % path_count];
        struct input in = read_input(path);
        uint32_t random = change * 2654435761U + 1;

        for (uint32_t n = 1 + draw(&random, MOST_EDITS); n > 0; n--)
            edit(&in, &random);
        (void)dprintf(out, "\r%s, change %u", path, change);
        run(in);
    }
    (void)dprintf(out, "\n%u changed\n", change);
}

static int replay_folder(const char *folder, int out)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[PATH_BYTES];
    int count = 0;

    while (dir && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)dprintf(out, "%s\n", path); /* the last one that is named has failed */
        run(read_input(path));
        if (path_count < MOST_FILES)
            paths[path_count++] = strdup(path);
        count++;
    }
    if (dir)
        (void)closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    const struct rlimit limit = {memory, memory};
    int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC), count = 0,
        first = 1;
    double seconds = 0;

    if (out < 0 || null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
        return 1;
#ifndef __SANITIZE_ADDRESS__
    (void)setrlimit(RLIMIT_AS, &limit);
#else
    (void)limit;
#endif
    if (argc > 2 && strcmp(argv[1], "-seconds") == 0) {
        seconds = strtod(argv[2], NULL);
        first = 3;
    }
    for (int i = first; i < argc; i++)
        count += replay_folder(argv[i], out);
    if (seconds > 0)
        run_changed(out, seconds);
    (void)dprintf(out, "%d files\n", count);
    return count == 0;
}
