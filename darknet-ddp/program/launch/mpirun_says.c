#include "launch/mpirun_says.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A frame that is longer is none of mpirun's (launch/output_relay.h). */
enum { RULE_DASHES = 70, FRAME_BYTES = 4096 };

/* Beginnings of frames that only say that ranks have ended: Open MPI 4's orterun and 5's prterun
 * use the same words, but for who says them. */
static const char *const endings[] = {"MPI_ABORT was invoked on rank",
                                      "Primary job terminated normally, but",
                                      "detected that one or more processes exited with non-zero",
                                      "has exited due to process rank",
                                      "noticed that process rank",
                                      "lost communication with a remote daemon"};

static const char *const no_starts[] = {"was unable to reliably start one or more daemons",
                                        "daemon has unexpectedly failed",
                                        "not enough slots available",
                                        "was unable to launch the specified application",
                                        "was unable to start the specified application",
                                        "was unable to find the specified executable"};

/* "[host:1] 3 more processes have sent help message", "mpirun: Forwarding signal 12 to job". */
static const char *const asides[] = {" more process has sent help message",
                                     " more processes have sent help message",
                                     "Set MCA parameter \"orte_base_help_aggregate\"",
                                     ": Forwarding signal ", "plm:ssh: Warning: setpgid("};

static int has_any(const char *text, size_t bytes, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(text, bytes, words[i], strlen(words[i])))
            return 1;
    return 0;
}

int ddp_mpirun_is_rule(const char *line, size_t bytes)
{
    size_t dashes = 0;

    while (dashes < bytes && line[dashes] == '-')
        dashes++;
    return dashes >= RULE_DASHES && dashes + 1 >= bytes;
}

int ddp_mpirun_is_aside(const char *line, size_t bytes)
{
    return has_any(line, bytes, asides, sizeof asides / sizeof *asides);
}

/* Text with each run of blanks and line ends as one blank, without the rules. */
static void join_lines(const char *text, char *out, size_t size)
{
    size_t used = 0;

    for (; *text && used + 1 < size; text++) {
        char letter = *text;

        if (strchr("\n\r\t", letter))
            letter = ' ';
        if (letter != ' ' || (used > 0 && out[used - 1] != ' '))
            out[used++] = letter;
    }
    out[used] = '\0';
}

static void copy_word(char *out, size_t size, const char *word)
{
    (void)snprintf(out, size, "%.*s", (int)strcspn(word, " "), word);
}

/* "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed)." or
 * "mpirun has exited due to process rank 1 with PID 0 on node vm exiting improperly." */
static void find_ended(ddp_mpirun_frame *out, const char *text)
{
    static const char process[] = " process rank ", on[] = " on node ", by[] = "exited on signal ";
    const char *at = strstr(text, process), *node = at ? strstr(at, on) : NULL;
    const char *signal = node ? strstr(node, by) : NULL;

    if (!signal && !(node && strstr(node, " exiting improperly")))
        return;
    out->rank = (int)strtol(at + strlen(process), NULL, 10);
    out->signal = signal ? (int)strtol(signal + strlen(by), NULL, 10) : 0;
    copy_word(out->host, sizeof out->host, node + strlen(on));
}

/* "Remote daemon: [[26566,0],1] on node b" */
static void find_lost(ddp_mpirun_frame *out, const char *text)
{
    static const char on[] = " on node ";
    const char *at = strstr(text, "Remote daemon: "), *node = at ? strstr(at, on) : NULL;

    if (node)
        copy_word(out->lost, sizeof out->lost, node + strlen(on));
}

void ddp_mpirun_read_frame(ddp_mpirun_frame *out, const char *text)
{
    char joined[FRAME_BYTES];
    const char *first, *end;

    *out = (ddp_mpirun_frame){.rank = -1};
    join_lines(text, joined, sizeof joined);
    out->is_no_start =
        has_any(joined, strlen(joined), no_starts, sizeof no_starts / sizeof *no_starts);
    out->is_end = out->is_no_start
                  || has_any(joined, strlen(joined), endings, sizeof endings / sizeof *endings);
    find_ended(out, joined);
    find_lost(out, joined);
    first = joined + strspn(joined, "- ");
    end = strpbrk(first, ".:");
    (void)snprintf(out->sentence, sizeof out->sentence, "%.*s",
                   end ? (int)(end - first) : (int)strlen(first), first);
}
