#include "options/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ddp_compress_row ddp_compress_table[DDP_COMPRESS_WORDS] = {
    {"none", DDP_WIRE_FP32, 0, DDP_NUMBER_NONE, "", 0, 0},
#define HALF(NAME, name, ...) {#name, DDP_WIRE_##NAME, 0, DDP_NUMBER_NONE, "", 0, 0},
#define EIGHT(NAME, name, ...) {#name, DDP_WIRE_##NAME, 0, DDP_NUMBER_NONE, "", 0, 0},
#include "device/half_types.def"
#define COMPRESSION(name, argument, kind, low, high, meaning)                                      \
    {#name, DDP_WIRE_FP32, 1, DDP_NUMBER_##kind, argument, low, high},
#include "algorithms/algorithms.def"
};

const char ddp_compress_argument[] = "none"
#define HALF(NAME, name, ...) "|" #name
#define EIGHT(NAME, name, ...) "|" #name
#include "device/half_types.def"
#define COMPRESSION(name, argument, ...) "|" #name argument
#include "algorithms/algorithms.def"
    ;

const char ddp_compress_meaning[] =
    "how gradients travel; they are added up in float32. Whole: none (float32), "
#define HALF(NAME, name, most, meaning) #name " (" meaning "), "
#define EIGHT(NAME, name, most, meaning) #name " (" meaning "). "
#include "device/half_types.def"
    "A part of each weight matrix's gradient, with the rest sent later: "
#define COMPRESSION(name, argument, kind, low, high, meaning) #name argument " (" meaning "), "
#include "algorithms/algorithms.def"
    "with whole biases. With -ddp_exact only none is allowed";

/* In digits alone, with a point where the number need not be whole. */
static int parse_number(double *out, const ddp_compress_row *c, const char *text)
{
    char *end = NULL;

    if (!*text || text[strspn(text, c->kind == DDP_NUMBER_WHOLE ? "0123456789" : "0123456789.")])
        return 0;
    *out = strtod(text, &end);
    return !*end && *out >= c->low && *out <= c->high;
}

static int parse_as(ddp_compress_choice *out, ddp_compress_word word, const char *text)
{
    const ddp_compress_row *c = &ddp_compress_table[word];
    size_t length = strlen(c->word);
    ddp_compress_choice found = {.word = word};

    if (strncmp(text, c->word, length) != 0)
        return 0;
    text += length;
    if (c->kind != DDP_NUMBER_NONE ? *text != ':' || !parse_number(&found.value, c, text + 1)
                                   : *text != '\0')
        return 0;
    *out = found;
    return 1;
}

int ddp_compress_choice_parse(ddp_compress_choice *out, const char *text)
{
    for (int word = 0; word < DDP_COMPRESS_WORDS; word++)
        if (parse_as(out, (ddp_compress_word)word, text))
            return 1;
    return 0;
}

void ddp_compress_accepts(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (const ddp_compress_row *c = ddp_compress_table;
         c < ddp_compress_table + DDP_COMPRESS_WORDS && used < size; c++)
        if (c->kind != DDP_NUMBER_NONE)
            used += (size_t)snprintf(
                text + used, size - used, ", %s %s from %.10g to %.10g", c->argument + 1,
                c->kind == DDP_NUMBER_WHOLE ? "a whole number" : "a number", c->low, c->high);
}

const char *ddp_compress_choice_format(const ddp_compress_choice *c, char text[DDP_COMPRESS_TEXT])
{
    const ddp_compress_row *of = &ddp_compress_table[c->word];

    if (of->kind != DDP_NUMBER_NONE)
        (void)snprintf(text, DDP_COMPRESS_TEXT, "%s:%.9g", of->word, c->value);
    else
        (void)snprintf(text, DDP_COMPRESS_TEXT, "%s", of->word);
    return text;
}

ddp_wire ddp_compress_choice_wire(const ddp_compress_choice *c)
{
    return ddp_compress_table[c->word].wire;
}

int ddp_compress_choice_compresses(const ddp_compress_choice *c)
{
    return ddp_compress_table[c->word].compresses;
}
