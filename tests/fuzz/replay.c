/* A harness without libFuzzer: every file of the folders that are named goes through it once,
 * NAME.hex as the bytes that its hexadecimal digits are. A crash fails, and so does more memory
 * than 2 GiB. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, PATH_BYTES = 4096 };

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

static void replay(const char *path)
{
    uint8_t *data = malloc(MOST_BYTES);
    FILE *f = fopen(path, "rb");
    size_t size;

    if (!f || !data)
        abort();
    size = fread(data, 1, MOST_BYTES, f);
    (void)fclose(f);
    if (is_hex(path))
        size = decode(data, size);
    data = realloc(data, size + !size); /* so that a sanitizer knows its end */
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
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
        replay(path);
        count++;
    }
    if (dir)
        (void)closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    const struct rlimit limit = {memory, memory};
    int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC), count = 0;

    if (out < 0 || null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
        return 1;
#ifndef __SANITIZE_ADDRESS__
    (void)setrlimit(RLIMIT_AS, &limit);
#else
    (void)limit;
#endif
    for (int i = 1; i < argc; i++)
        count += replay_folder(argv[i], out);
    (void)dprintf(out, "%d files\n", count);
    return count == 0;
}
