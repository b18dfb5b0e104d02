#include "options/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of algorithms.def words alone are wanted here. */
#define ALGORITHM(name)
#define ROW(...)

typedef struct choice {
    const char *word;
    const char *argument;      /* "": no number stands behind it */
    enum ddp_option_kind kind; /* WHOLE or REAL */
    double low, high;
} choice;

static const choice choices[DDP_CHOICES] = {
    {"none", "", DDP_OPTION_KIND_WHOLE, 0, 0},
    {"bf16", "", DDP_OPTION_KIND_WHOLE, 0, 0},
    {"fp16", "", DDP_OPTION_KIND_WHOLE, 0, 0},
#define WORD(name, argument, kind, low, high, meaning)                                             \
    {#name, argument, DDP_OPTION_KIND_##kind, low, high},
#include "algorithms/algorithms.def"
#undef WORD
};

const char ddp_compress_argument[] = "none|bf16|fp16"
#define WORD(name, argument, ...) "|" #name argument
#include "algorithms/algorithms.def"
#undef WORD
    ;

const char ddp_compress_meaning[] =
    "gradients travel as 16 bits, and are added in float32: bf16 of float32's range and 8 binary "
    "digits; fp16 of 11, up to 65504. "
#define WORD(name, argument, kind, low, high, meaning) #name ": " meaning "; "
#include "algorithms/algorithms.def"
#undef WORD
    "what is left out is kept for later. Not with -ddp_exact";

/* In digits alone, with a point where the number need not be whole. */
static int parse_number(double *out, const choice *c, const char *text)
{
    char *end = NULL;

    if (!*text
        || text[strspn(text, c->kind == DDP_OPTION_KIND_WHOLE ? "0123456789" : "0123456789.")])
        return 0;
    *out = strtod(text, &end);
    return !*end && *out >= c->low && *out <= c->high;
}

static int parse_as(ddp_compress_choice *out, ddp_compress_word word, const char *text)
{
    const choice *c = &choices[word];
    size_t length = strlen(c->word);
    ddp_compress_choice found = {.word = word};

    if (strncmp(text, c->word, length) != 0)
        return 0;
    text += length;
    if (c->argument[0] ? *text != ':' || !parse_number(&found.value, c, text + 1) : *text != '\0')
        return 0;
    *out = found;
    return 1;
}

int ddp_compress_choice_parse(ddp_compress_choice *out, const char *text)
{
    for (int word = DDP_CHOICE_NONE; word < DDP_CHOICES; word++)
        if (parse_as(out, (ddp_compress_word)word, text))
            return 1;
    return 0;
}

void ddp_compress_accepts(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (const choice *c = choices; c < choices + DDP_CHOICES && used < size; c++)
        if (c->argument[0])
            used += (size_t)snprintf(
                text + used, size - used, ", %s %s from %.10g to %.10g", c->argument + 1,
                c->kind == DDP_OPTION_KIND_WHOLE ? "a whole number" : "a number", c->low, c->high);
}

const char *ddp_compress_choice_format(const ddp_compress_choice *c, char text[DDP_COMPRESS_TEXT])
{
    const choice *of = &choices[c->word];

    if (of->argument[0])
        (void)snprintf(text, DDP_COMPRESS_TEXT, "%s:%.9g", of->word, c->value);
    else
        (void)snprintf(text, DDP_COMPRESS_TEXT, "%s", of->word);
    return text;
}

ddp_wire ddp_compress_choice_wire(const ddp_compress_choice *c)
{
    return c->word <= DDP_CHOICE_FP16 ? (ddp_wire)c->word : DDP_WIRE_FP32;
}

int ddp_compress_choice_has_errors(const ddp_compress_choice *c)
{
    return c->word > DDP_CHOICE_FP16;
}
