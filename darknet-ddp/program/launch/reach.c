#include "launch/reach.h"

#include "base/clock.h"
#include "base/path.h"
#include "launch/mpirun.h"
#include "launch/process_tree.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MS = 10000, AGENT_WORDS = 32, SHOWN_HOSTS = 4, COMMAND_BYTES = 16384 };

static const char *agent_command(void)
{
    const char *set = ddp_mpirun_agent();

    return set ? set : "ssh -o BatchMode=yes -o ConnectTimeout=5";
}

void ddp_reach_program(char *out, size_t size)
{
    const char *agent = agent_command();
    char first[256];

    (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(agent, " :"), agent);
    (void)snprintf(out, size, "%s", ddp_path_name(first));
}

/* ---- asking ---- */

static void become_agent(const char *host, int errors) __attribute__((noreturn));

/* Become the agent. Its errors go to the descriptor `errors`; -1: nowhere. */
static void become_agent(const char *host, int errors)
{
    char *agent = strdup(agent_command()), *words[AGENT_WORDS + 3], *rest = NULL;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), count = 0;
    sigset_t none;

    for (char *word = strtok_r(agent, " ", &rest); word && count < AGENT_WORDS;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    words[count++] = strdup(host);
    words[count++] = strdup("true");
    words[count] = NULL;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    for (int fd = 0; fd < 3; fd++)
        (void)dup2(fd == STDERR_FILENO && errors >= 0 ? errors : null, fd);
    (void)setpgid(0, 0);
    (void)execvp(words[0], words);
    _exit(127);
}

static void end_agent(pid_t agent)
{
    (void)kill(-agent, SIGKILL);
    (void)kill(agent, SIGKILL); /* before it has a group of its own */
    (void)waitpid(agent, NULL, 0);
}

void ddp_hosts_probe(ddp_hosts *h)
{
    const int64_t until = ddp_clock_ns() + ANSWER_MS * (int64_t)1000000;
    pid_t asked[DDP_HOSTS_MAX] = {0};
    size_t left = 0;

    for (size_t i = 0; i < h->count; i++) {
        int here = ddp_is_this_host(h->list[i].name);

        h->list[i].unreachable = !here;
        asked[i] = here ? 0 : fork();
        if (asked[i] == 0 && !here)
            become_agent(h->list[i].name, -1);
        left += asked[i] > 0;
    }
    while (left > 0 && ddp_clock_ns() < until) {
        for (size_t i = 0; i < h->count; i++) {
            int how;

            if (asked[i] <= 0 || waitpid(asked[i], &how, WNOHANG) != asked[i])
                continue;
            h->list[i].unreachable = !WIFEXITED(how) || WEXITSTATUS(how) != 0;
            asked[i] = 0;
            left--;
        }
        (void)usleep(20000);
    }
    for (size_t i = 0; i < h->count; i++)
        if (asked[i] > 0)
            end_agent(asked[i]);
}

/* Read until the writer ends, or no longer than until the moment. Returns 1 where it has ended. */
static int read_all(int from, char *text, size_t size, int64_t until_ns)
{
    size_t used = 0;
    ssize_t n = 1;

    while (n > 0 && ddp_clock_ns() < until_ns) {
        struct pollfd wait = {.fd = from, .events = POLLIN};

        if (poll(&wait, 1, 100) <= 0)
            continue;
        if (used == size - 1) /* the end says most */
            memmove(text, text + size / 2, used -= size / 2);
        n = read(from, text + used, size - 1 - used);
        used += n > 0 ? (size_t)n : 0;
    }
    text[used] = '\0';
    return n <= 0;
}

/* The last line of text that is not empty. */
static const char *last_line(char *text)
{
    size_t used = strlen(text);
    const char *line;

    while (used > 0 && strchr("\r\n", text[used - 1]))
        text[--used] = '\0';
    line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

int ddp_host_why_unreachable(const char *name, double limit_s, char *out, size_t size)
{
    int64_t until_ns = ddp_clock_ns() + (int64_t)(limit_s * 1e9);
    char text[1024] = "", program[64];
    int ends[2], ended, how = -1;
    pid_t agent;

    out[0] = '\0';
    ddp_reach_program(program, sizeof program);
    if (pipe2(ends, O_CLOEXEC))
        return 0;
    agent = fork();
    if (agent == 0)
        become_agent(name, ends[1]);
    (void)close(ends[1]);
    ended = agent > 0 && read_all(ends[0], text, sizeof text, until_ns);
    (void)close(ends[0]);
    while (ended && waitpid(agent, &how, WNOHANG) == 0 && ddp_clock_ns() < until_ns)
        (void)usleep(10000);
    if (how == -1 && agent > 0)
        end_agent(agent);
    if (how == 0 || agent < 0)
        return 0;
    if (how == -1)
        (void)snprintf(out, size, "%s has no answer for %.0f s", program, limit_s);
    else if (last_line(text)[0])
        (void)snprintf(out, size, "%s", last_line(text));
    else
        (void)snprintf(out, size, "%s ends with status %d", program,
                       WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how));
    return 1;
}

/* ---- what mpirun is at ---- */

struct search {
    const ddp_hosts *hosts;
    char *reached; /* of each host */
};

/* Open MPI drops what stands behind the first dot of a name that is no address. */
static int is_host(const char *word, const char *name)
{
    size_t bytes = strlen(word);

    if (ddp_is_address(name))
        return strcmp(word, name) == 0;
    return bytes > 0 && strncmp(word, name, bytes) == 0
           && (name[bytes] == '\0' || name[bytes] == '.');
}

static void look_for_host(void *ctx, pid_t pid)
{
    struct search *s = ctx;
    char path[64], text[COMMAND_BYTES];
    size_t bytes;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return;
    bytes = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[bytes] = '\0';
    for (const char *word = text; word < text + bytes; word += strlen(word) + 1)
        for (size_t i = 0; i < s->hosts->count; i++)
            if (is_host(word, s->hosts->list[i].name))
                s->reached[i] = 1;
}

int ddp_hosts_being_reached(const ddp_hosts *h, char *out, size_t size)
{
    struct search s = {.hosts = h, .reached = calloc(h->count + 1, 1)};
    size_t used = 0;
    int count = 0;

    out[0] = '\0';
    if (!s.reached)
        return 0;
    ddp_process_tree_each(look_for_host, &s);
    for (size_t i = 0; i < h->count; i++)
        if (s.reached[i] && !ddp_is_this_host(h->list[i].name) && count++ < SHOWN_HOSTS
            && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", count > 1 ? ", " : "",
                                     h->list[i].name);
    if (count > SHOWN_HOSTS && used < size)
        (void)snprintf(out + used, size - used, " and %d more", count - SHOWN_HOSTS);
    free(s.reached);
    return count;
}
