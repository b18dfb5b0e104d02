#include "options/ddp_commands.h"

#include "base/suggest.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const ddp_ddp_command commands[] = {
    {DDP_SUBCOMMAND_CHECK, "check", "DATA CFG [WEIGHTS]", 1,
     "what is wrong with pictures, labels and cfg, all at once"},
    {DDP_SUBCOMMAND_CFG, "cfg", "NAME|CFG", 0,
     "write a cfg, yolov3, yolov3-tiny, yolov4, yolov4-tiny or one that is there, for -classes N, "
     "for -data X.data and for "
     "-hours H"},
    {DDP_SUBCOMMAND_MAP, "map", "DATA CFG WEIGHTS", 1,
     "average precision on valid=, a class a line; also `darknet detector map`"},
    {DDP_SUBCOMMAND_VALID, "valid", "DATA CFG WEIGHTS", 1,
     "what is found on valid=, in files in results=; also `darknet detector valid`"},
    {DDP_SUBCOMMAND_VALID_CLASSIFIER, "top", "DATA CFG WEIGHTS", 1,
     "top-1, top-k and loss on valid=; also `darknet classifier valid`"},
    {DDP_SUBCOMMAND_PLAN, "plan", "CFG", 0, "the buckets of gradients, and what they send"},
    {DDP_SUBCOMMAND_BENCH, "bench", "CFG", 1, "times of a step, on random data"},
    {DDP_SUBCOMMAND_OPTIONS, "options", "", 0,
     "all options; with -json as data, and what goes with what"},
    {DDP_SUBCOMMAND_WHY, "why", "FILE...", 0, "which rank of a failed run broke off first"},
    {DDP_SUBCOMMAND_COMPLETION, "completion", "bash|zsh", 0,
     "completion of this program for a shell"},
    {DDP_SUBCOMMAND_MAN, "man", "[options]", 0,
     "the manual page, or that of all options, for man -l"},
    {DDP_SUBCOMMAND_HELP, "help", "", 0, "all options"},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

const ddp_ddp_command *ddp_ddp_command_at(size_t i)
{
    return i < COMMANDS ? &commands[i] : NULL;
}

static const char *const known[][3] = {
    {"detector", "map", "map"}, {"detector", "valid", "valid"}, {"classifier", "valid", "top"}};

void ddp_ddp_command_name(const char *verb, char *name, size_t size)
{
    (void)snprintf(name, size, "ddp %s", verb);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i][2], verb) == 0)
            (void)snprintf(name, size, "%s %s", known[i][0], known[i][1]);
}

void ddp_ddp_command_rename(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(argv[1], known[i][0]) == 0 && strcmp(argv[2], known[i][1]) == 0) {
            argv[1] = "ddp";
            argv[2] = (char *)known[i][2];
            return;
        }
}

static void count_words(const char *words, int *fewest, int *most)
{
    *fewest = *most = 0;
    while (*words) {
        size_t length = strcspn(words, " ");

        *fewest += words[0] != '[';
        *most = words[length - 1] == '.' ? INT_MAX : *most + 1;
        words += length + (words[length] == ' ');
    }
}

static void refuse(const char *verb, ddp_error *err)
{
    ddp_suggest near = {.word = verb};
    char text[DDP_NEAR_TEXT], verbs[128] = "";
    size_t used = 0;

    for (const ddp_ddp_command *row = commands; row < commands + COMMANDS; row++) {
        ddp_suggest_try(&near, row->verb);
        used +=
            (size_t)snprintf(verbs + used, sizeof verbs - used, "%s%s", used ? "|" : "", row->verb);
    }
    if (*verb)
        (void)ddp_fail(err, DDP_ERR_USAGE, "darknet ddp has no '%s'%s; usage: darknet ddp %s", verb,
                       ddp_suggest_text(&near, text), verbs);
    else
        (void)ddp_fail(err, DDP_ERR_USAGE, "usage: darknet ddp %s", verbs);
}

const ddp_ddp_command *ddp_ddp_command_of(int argc, char **argv, ddp_error *err)
{
    const char *verb = argc > 2 ? argv[2] : "";
    char name[32];
    int fewest, most;

    for (const ddp_ddp_command *row = commands; row < commands + COMMANDS; row++) {
        if (strcmp(row->verb, verb) != 0)
            continue;
        count_words(row->words, &fewest, &most);
        ddp_ddp_command_name(verb, name, sizeof name);
        if (argc - 3 >= fewest && argc - 3 <= most)
            return row;
        (void)ddp_fail(err, DDP_ERR_USAGE,
                       "usage: darknet %s%s%s [options]; `darknet ddp help` lists them", name,
                       row->words[0] ? " " : "", row->words);
        return NULL;
    }
    refuse(verb, err);
    return NULL;
}
