#include "cli/check_cfg.h"

#include "cli/commands.h"
#include "core/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 1 << 16 };

/* In the child: `ddp plan` parses, and trains nothing. */
static void become(const char *cfg, const ddp_options *options, int out)
{
    const char *args[] = {"darknet", "ddp", "plan", cfg, "-np", "1", NULL, NULL};

    if (options->allow_unknown_keys)
        args[6] = "-allow_unknown_keys";
    if (dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0)
        (void)execv("/proc/self/exe", (char *const *)args);
    _exit(127);
}

/* Read all that the child says, and keep its last size - 1 bytes at most. */
static void read_end(int in, char *text, size_t size)
{
    size_t used = 0;
    ssize_t n;

    while ((n = read(in, text + used, size - 1 - used)) > 0 || (n < 0 && errno == EINTR)) {
        used += n > 0 ? (size_t)n : 0;
        if (used == size - 1) { /* the first half is not the end */
            memmove(text, text + size / 2, used - size / 2);
            used -= size / 2;
        }
    }
    text[used] = '\0';
}

/* Its exit status, -1 where there was none, and what it said. */
static int ask(const char *cfg, const ddp_options *options, char *text, size_t size)
{
    int ends[2], status = -1;
    pid_t child;

    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    (void)fflush(NULL);
    child = fork();
    if (child == 0)
        become(cfg, options, ends[1]);
    (void)close(ends[1]);
    if (child > 0) {
        read_end(ends[0], text, size);
        if (waitpid(child, &status, 0) == child)
            status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    (void)close(ends[0]);
    return status;
}

/* Less those that are indented, which say more of it. */
static char *last_line(char *text)
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

/* "darknet: CFG:30: what is wrong", or without one of both. */
static void add(ddp_faults *f, const char *cfg, const char *line)
{
    static const char prefix[] = "darknet: ";
    size_t name = strlen(cfg);
    long number = 0;
    char *end;

    if (strncmp(line, prefix, strlen(prefix)) == 0)
        line += strlen(prefix);
    if (strncmp(line, cfg, name) == 0 && line[name] == ':') {
        line += name + 1;
        number = strtol(line, &end, 10);
        if (end > line && *end == ':')
            line = end + 1;
        while (*line == ' ')
            line++;
    }
    ddp_fault_add(f, DDP_FAULT_ERROR, "cfg-refused", cfg, (int)number, "%s",
                  *line ? line : "training cannot read it");
}

static int number_of(const ddp_cfg_line *line)
{
    return line ? (int)strtod(line->value, NULL) : 1;
}

/* What plan only mentions, for it may be asked of other sizes: the cfg has none that one process
 * could train. */
static void check_batch(ddp_faults *f, const char *path, const ddp_cfg_text *cfg)
{
    ddp_cfg_section net;
    size_t at = 0;
    const ddp_cfg_line *batch, *subdivisions;
    ddp_batch cut;
    ddp_error why;

    if (!ddp_cfg_next_section(cfg, &at, &net))
        return;
    batch = ddp_cfg_find(&net, "batch");
    subdivisions = ddp_cfg_find(&net, "subdivisions");
    if (ddp_batch_split(&cut, number_of(batch), number_of(subdivisions), 1, DDP_BATCH_GLOBAL, NULL,
                        &why))
        ddp_fault_add(f, DDP_FAULT_ERROR, "cfg-batch", path, batch ? batch->number : 0, "%s",
                      why.text);
}

/* Faults that training also says, and goes on with. */
static void check_cells(ddp_faults *f, const char *path, const ddp_options *options)
{
    char text[DDP_MISFIT_BYTES];
    ddp_network_shape shape;
    network *net = ddp_command_load(&shape, path, options, -1);

    if (ddp_network_misfit(net, text))
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-cells", path, 0, "%s", text);
    ddp_network_free(net);
}

void ddp_check_cfg(ddp_faults *f, const char *path, const ddp_cfg_text *cfg,
                   const ddp_options *options)
{
    static char text[TEXT];

    if (ask(path, options, text, sizeof text) != 0) {
        add(f, path, last_line(text));
        return;
    }
    check_batch(f, path, cfg);
    check_cells(f, path, options);
}
