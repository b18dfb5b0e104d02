#include "launch/resume_command.h"

#include "launch/child.h"
#include "launch/mpirun.h"
#include "launch/mpirun_names.h"
#include "launch/output_relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 4096 };

static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "_./:=,+@%-";

static void quote(FILE *out, const char *word)
{
    if (*word && word[strspn(word, safe)] == '\0') {
        (void)fputs(word, out);
        return;
    }
    (void)fputc('\'', out);
    for (; *word; word++)
        (void)fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, out);
    (void)fputc('\'', out);
}

/* Is the word one that `option` makes superfluous? -resume_force stays where -resume is added. */
static int is_resume(const char *word, const char *option)
{
    return strncmp(word, "-resume", strlen("-resume")) == 0 && strlen(word) <= strlen(option);
}

/* Return 1 for -clear, which clears nothing of a run that goes on, and for -ddp_take_over, which is
 * needed once. */
static int is_for_once(const char *word)
{
    return strcmp(word, "-clear") == 0 || strcmp(word, "-ddp_take_over") == 0;
}

char *ddp_resume_command_of(char *const *argv, ddp_resume_how how)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int resumes = 0;

    if (!out)
        return NULL;
    for (int i = 0; argv[i]; i++) {
        if (is_for_once(argv[i]) || (resumes && is_resume(argv[i], how.option)))
            continue;
        (void)fputc(i > 0 ? ' ' : '`', out);
        if (how.epochs > 0 && i > 0 && strcmp(argv[i - 1], "-epochs") == 0)
            (void)fprintf(out, "%d", how.epochs);
        else if (how.patience > 0 && i > 0 && strcmp(argv[i - 1], "-patience") == 0)
            (void)fprintf(out, "%d", how.patience);
        else
            quote(out, is_resume(argv[i], how.option) ? how.option : argv[i]);
        resumes |= strncmp(argv[i], "-resume", strlen("-resume")) == 0;
    }
    if (!resumes)
        (void)fprintf(out, " %s", how.option);
    (void)fputc('`', out);
    (void)fclose(out);
    return text;
}

/* Read the command line of another process; words[0..WORDS) point into text. Returns 0 where it
 * cannot be read. */
static int read_words(pid_t pid, char *text, size_t size, char **words)
{
    char path[64];
    size_t bytes, count = 0;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    bytes = fread(text, 1, size - 1, f);
    (void)fclose(f);
    text[bytes] = '\0';
    for (char *at = text; at < text + bytes && count + 1 < WORDS; at += strlen(at) + 1)
        words[count++] = at;
    words[count] = NULL;
    return bytes + 1 < size && count > 0;
}

int ddp_is_mpirun(pid_t pid)
{
    static char text[1 << 17], *words[WORDS];

    return read_words(pid, text, sizeof text, words) && ddp_mpirun_is_name(words[0]);
}

int ddp_is_mpiruns_daemon(pid_t pid)
{
    static char text[1 << 17], *words[WORDS];

    return read_words(pid, text, sizeof text, words) && ddp_mpirun_is_daemon_name(words[0]);
}

char *ddp_resume_command(int launched, ddp_resume_how how)
{
    static char text[1 << 17], *words[WORDS];
    pid_t starter = ddp_child_starter();
    char *same;

    if (!launched && read_words(getpid(), text, sizeof text, words))
        return ddp_resume_command_of(words, how);
    if (starter > 0 && read_words(starter, text, sizeof text, words))
        return ddp_resume_command_of(words, how);
    if (starter == 0 && read_words(getppid(), text, sizeof text, words)
        && ddp_mpirun_is_name(words[0])) {
        words[0] = ddp_mpirun_typed_name(words[0]);
        return ddp_resume_command_of(words, how);
    }
    if (asprintf(&same, "the same command line with %s", how.option) < 0)
        return NULL;
    return same;
}

char *ddp_command_to_train_further(int launched, int epochs, const char *cfg)
{
    const ddp_resume_how how = {.option = "-resume_force", .epochs = epochs};
    char *command = ddp_resume_command(launched, how), *text = NULL;

    if (!command || epochs > 0)
        return command;
    if (asprintf(&text, "with a larger max_batches= in %s %s", cfg, command) < 0)
        text = NULL;
    free(command);
    return text;
}

char *ddp_command_line(void)
{
    static char text[1 << 17], *words[WORDS];
    char *line = NULL;
    size_t size;
    FILE *out;

    if (!read_words(getpid(), text, sizeof text, words))
        return NULL;
    out = open_memstream(&line, &size);
    for (int i = 0; out && words[i]; i++) {
        if (i > 0)
            (void)fputc(' ', out);
        quote(out, words[i]);
    }
    if (out)
        (void)fclose(out);
    return line;
}

char *ddp_resume_advice(char *command, const char *where)
{
    char *text = NULL;

    if (!command || asprintf(&text, "%s%s%s", command, ddp_resume_hint, where) < 0)
        return NULL;
    return text;
}
