#include "options/ddp_commands.h"

#include "base/suggest.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { ON_RANKS = DDP_COMMAND_ON_RANKS, LAYERS = DDP_COMMAND_LAYERS, OF_RUN = DDP_COMMAND_OF_RUN };

static const ddp_ddp_command commands[] = {
#define COMMAND(id, verb, name, words, traits, meaning)                                            \
    {DDP_COMMAND_##id, #verb, name, words, traits, meaning},
#include "options/ddp_commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

const ddp_ddp_command *ddp_ddp_command_at(size_t i)
{
    return i < COMMANDS ? &commands[i] : NULL;
}

const ddp_ddp_command *ddp_ddp_command_find(const char *verb)
{
    for (const ddp_ddp_command *row = commands; row < commands + COMMANDS; row++)
        if (strcmp(row->verb, verb) == 0)
            return row;
    return NULL;
}

void ddp_ddp_command_name(const ddp_ddp_command *row, char *name, size_t size)
{
    if (row->name)
        (void)snprintf(name, size, "%s", row->name);
    else
        (void)snprintf(name, size, "ddp %s", row->verb);
}

void ddp_ddp_command_rename(int argc, char **argv)
{
    char typed[64];

    if (argc < 3)
        return;
    (void)snprintf(typed, sizeof typed, "%s %s", argv[1], argv[2]);
    for (const ddp_ddp_command *row = commands; row < commands + COMMANDS; row++)
        if (row->name && strcmp(row->name, typed) == 0) {
            argv[1] = "ddp";
            argv[2] = (char *)row->verb;
        }
}

int ddp_ddp_command_is_ours(const char *name, const char *verb)
{
    char typed[64];

    (void)snprintf(typed, sizeof typed, "%s %s", name, verb);
    for (const ddp_ddp_command *row = commands; row < commands + COMMANDS; row++)
        if (row->name && strcmp(row->name, typed) == 0)
            return 1;
    return 0;
}

static void count_words(const char *words, int *fewest, int *most)
{
    *fewest = *most = 0;
    while (*words) {
        size_t length = strcspn(words, " ");

        *fewest += words[0] != '[';
        *most = memmem(words, length, "...", 3) ? INT_MAX : *most + 1;
        words += length + (words[length] == ' ');
    }
}

static void refuse(const char *verb, ddp_error *err)
{
    ddp_suggest near = {.word = verb};
    char text[DDP_SUGGEST_TEXT], verbs[128] = "";
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
    const ddp_ddp_command *row = ddp_ddp_command_find(verb);
    char name[32];
    int fewest, most;

    if (!row) {
        refuse(verb, err);
        return NULL;
    }
    count_words(row->words, &fewest, &most);
    if (argc - 3 >= fewest && argc - 3 <= most)
        return row;
    ddp_ddp_command_name(row, name, sizeof name);
    (void)ddp_fail(err, DDP_ERR_USAGE,
                   "usage: darknet %s%s%s [options]; `darknet ddp help` lists them", name,
                   row->words[0] ? " " : "", row->words);
    return NULL;
}
