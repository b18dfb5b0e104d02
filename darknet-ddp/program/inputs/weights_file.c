#include "inputs/weights_file.h"

#include "base/path.h"
#include "glue/darknet.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 12 };

static int is_number_of_version(const unsigned char *bytes)
{
    return bytes[0] < 100 && !bytes[1] && !bytes[2] && !bytes[3];
}

int ddp_begins_as_weights(const unsigned char *head, size_t count)
{
    return count >= HEAD && is_number_of_version(head) && is_number_of_version(head + 4);
}

static int is_named_so(const char *path)
{
    const char *name = ddp_path_name(path), *end = strrchr(name, '.');

    return end
           && (strcmp(end, ".weights") == 0 || strcmp(end, ".backup") == 0
               || strstr(name, ".conv."));
}

int ddp_is_weights_file(const char *path)
{
    unsigned char head[HEAD] = {0};
    int fd = open(ddp_installed_path(path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, head, sizeof head);

    if (fd >= 0)
        (void)close(fd);
    if (got <= 0)
        return 0;
    if (ddp_begins_as_weights(head, (size_t)got))
        return head[0] || head[4]; /* what a disk may leave of a text is all zeros */
    return is_named_so(path) && !isspace(head[0]) && !strchr("[#;\xef", head[0]);
}

int ddp_may_be_weights(const char *path)
{
    unsigned char head[HEAD];
    struct stat info;
    int fd =
        stat(path, &info) == 0 && S_ISREG(info.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof head);

    if (fd >= 0)
        (void)close(fd);
    return got < 0 || ddp_begins_as_weights(head, (size_t)got);
}

int ddp_is_foreign_model(const char *path)
{
    static const char *const ends[] = {".pt",   ".pth",    ".yaml",        ".yml",
                                       ".onnx", ".engine", ".safetensors", NULL};
    const char *end = strrchr(path, '.');

    for (int i = 0; end && ends[i]; i++)
        if (strcmp(end, ends[i]) == 0)
            return 1;
    return 0;
}
