#include "cli/compress_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANK = 64 };

const char ddp_compress_accepts[] = "R a whole number from 1 to 64";

static const char *const words[] = {[DDP_CHOICE_NONE] = "none",
                                    [DDP_CHOICE_BF16] = "bf16",
                                    [DDP_CHOICE_FP16] = "fp16",
                                    [DDP_CHOICE_POWERSGD] = "powersgd"};

static int parse_rank(int *out, const char *text)
{
    char *end = NULL;
    long rank;

    if (*text < '0' || *text > '9')
        return 0;
    errno = 0;
    rank = strtol(text, &end, 10);
    if (errno || *end || rank < 1 || rank > MOST_RANK)
        return 0;
    *out = (int)rank;
    return 1;
}

int ddp_compress_choice_parse(ddp_compress_choice *out, const char *text)
{
    size_t length = strlen(words[DDP_CHOICE_POWERSGD]);
    ddp_compress_choice c = {.word = DDP_CHOICE_POWERSGD};

    if (strncmp(text, words[DDP_CHOICE_POWERSGD], length) == 0 && text[length] == ':') {
        if (!parse_rank(&c.rank, text + length + 1))
            return 0;
        *out = c;
        return 1;
    }
    for (int word = DDP_CHOICE_NONE; word <= DDP_CHOICE_FP16; word++)
        if (strcmp(text, words[word]) == 0) {
            *out = (ddp_compress_choice){.word = (ddp_compress_word)word};
            return 1;
        }
    return 0;
}

const char *ddp_compress_choice_format(const ddp_compress_choice *c, char text[DDP_COMPRESS_TEXT])
{
    if (c->word == DDP_CHOICE_POWERSGD)
        (void)snprintf(text, DDP_COMPRESS_TEXT, "%s:%d", words[c->word], c->rank);
    else
        (void)snprintf(text, DDP_COMPRESS_TEXT, "%s", words[c->word]);
    return text;
}

ddp_wire ddp_compress_choice_wire(const ddp_compress_choice *c)
{
    if (c->word == DDP_CHOICE_BF16)
        return DDP_WIRE_BF16;
    return c->word == DDP_CHOICE_FP16 ? DDP_WIRE_FP16 : DDP_WIRE_FP32;
}

ddp_compress_config ddp_compress_choice_config(const ddp_compress_choice *c)
{
    if (c->word == DDP_CHOICE_POWERSGD)
        return (ddp_compress_config){.method = DDP_COMPRESS_POWERSGD, .rank = c->rank};
    return (ddp_compress_config){.method = DDP_COMPRESS_NONE};
}

int ddp_compress_choice_has_errors(const ddp_compress_choice *c)
{
    return ddp_compress_choice_config(c).method != DDP_COMPRESS_NONE;
}
