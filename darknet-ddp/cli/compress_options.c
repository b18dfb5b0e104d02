#include "cli/compress_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANK = 64, MOST_PERCENT = 24 };

static const double least_percent = 0.001;

const char ddp_compress_accepts[] = "R a whole number from 1 to 64, P a number from 0.001 to 24";

static const char *const words[] = {[DDP_CHOICE_NONE] = "none",
                                    [DDP_CHOICE_BF16] = "bf16",
                                    [DDP_CHOICE_FP16] = "fp16",
                                    [DDP_CHOICE_POWERSGD] = "powersgd",
                                    [DDP_CHOICE_TOP_K] = "topk"};

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

/* In digits and a point alone. */
static int parse_percent(double *out, const char *text)
{
    char *end = NULL;

    if (!*text || text[strspn(text, "0123456789.")])
        return 0;
    *out = strtod(text, &end);
    return !*end && *out >= least_percent && *out <= MOST_PERCENT;
}

/* What stands behind "word:"; NULL: the text is another. */
static const char *behind(const char *text, ddp_compress_word word)
{
    size_t length = strlen(words[word]);

    return strncmp(text, words[word], length) == 0 && text[length] == ':' ? text + length + 1
                                                                          : NULL;
}

int ddp_compress_choice_parse(ddp_compress_choice *out, const char *text)
{
    ddp_compress_choice power = {.word = DDP_CHOICE_POWERSGD}, top = {.word = DDP_CHOICE_TOP_K};
    const char *rank = behind(text, DDP_CHOICE_POWERSGD), *percent = behind(text, DDP_CHOICE_TOP_K);

    if (rank && parse_rank(&power.rank, rank)) {
        *out = power;
        return 1;
    }
    if (percent && parse_percent(&top.percent, percent)) {
        *out = top;
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
    else if (c->word == DDP_CHOICE_TOP_K)
        (void)snprintf(text, DDP_COMPRESS_TEXT, "%s:%.9g", words[c->word], c->percent);
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
    if (c->word == DDP_CHOICE_TOP_K)
        return (ddp_compress_config){.method = DDP_COMPRESS_TOP_K, .percent = c->percent};
    return (ddp_compress_config){.method = DDP_COMPRESS_NONE};
}

int ddp_compress_choice_has_errors(const ddp_compress_choice *c)
{
    return ddp_compress_choice_config(c).method != DDP_COMPRESS_NONE;
}
