/* Fuzzes command lines: each line of the input is a word. */
#include "options/darknet_commands.h"
#include "options/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 40 };

/* Cut text at its newlines. */
static int cut(char *text, char **argv)
{
    int argc = 0;

    argv[argc++] = "darknet";
    for (char *word = strtok(text, "\n"); word && argc < WORDS; word = strtok(NULL, "\n"))
        argv[argc++] = word;
    argv[argc] = NULL;
    return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[WORDS + 3], *text = malloc(size + 1);
    ddp_options options;
    ddp_error err;
    int argc;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    argc = cut(text, argv);
    if (ddp_options_parse(&options, &argc, argv, &err) == DDP_OK) {
        free(ddp_options_agreement(&options, 1));
        if (ddp_darknet_check(argc, argv, &err) == DDP_OK && ddp_darknet_trains(argc, argv))
            (void)(ddp_darknet_check_ddp(argc, argv, &err) == DDP_OK);
    }
    free(text);
    return 0;
}
