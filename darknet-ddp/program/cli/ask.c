#include "cli/ask.h"

#include "base/own_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t ddp_ask_start(const char *const *args, FILE **out)
{
    char program[PATH_MAX];
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    *out = fdopen(ends[0], "r");
    if (!*out) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return -1;
    }
    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        if (dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(ends[1], STDERR_FILENO) >= 0) {
            (void)execv("/proc/self/exe", (char *const *)args); /* also where it was replaced */
            if (ddp_own_path(program) == 0)
                (void)execv(program, (char *const *)args);
            printf("darknet: cannot start this program again: %s\n", strerror(errno));
            (void)fflush(stdout);
        }
        _exit(127);
    }
    (void)close(ends[1]);
    if (child < 0)
        (void)fclose(*out);
    return child;
}

int ddp_ask_end(pid_t child)
{
    int status;

    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

/* Read all that the child says, and keep its last size - 1 bytes at most. */
static void read_end(FILE *in, char *text, size_t size)
{
    size_t used = 0, n;

    while ((n = fread(text + used, 1, size - 1 - used, in)) > 0) {
        used += n;
        if (used == size - 1) { /* the first half is not the end */
            memmove(text, text + size / 2, used - size / 2);
            used -= size / 2;
        }
    }
    text[used] = '\0';
}

int ddp_ask(const char *const *args, char *text, size_t size)
{
    FILE *in;
    pid_t child = ddp_ask_start(args, &in);

    text[0] = '\0';
    if (child < 0) {
        (void)snprintf(text, size, "cannot start a process: %s", strerror(errno));
        return -1;
    }
    read_end(in, text, size);
    (void)fclose(in);
    return ddp_ask_end(child);
}

char *ddp_ask_last_line(char *text)
{
    char *begin = text;

    do {
        size_t length = strlen(text);

        while (length > 0 && text[length - 1] == '\n')
            text[--length] = '\0';
        begin = strrchr(text, '\n');
        if (begin && begin[1] == ' ')
            *begin = '\0';
    } while (begin && !*begin);
    return begin ? begin + 1 : text;
}
