/* options/compress_options.h: what -ddp_compress may say: none, a type of 16 bits in which numbers
 * travel (device/half_types.def), or a compression (algorithms/algorithms.def), with a number after
 * it where the compression has one. */
#ifndef DDP_OPTIONS_COMPRESS_OPTIONS_H
#define DDP_OPTIONS_COMPRESS_OPTIONS_H

#include "base/status.h"
#include "device/float16.h"

typedef enum ddp_compress_word {
    DDP_COMPRESS_none,
#define HALF(NAME, name, ...) DDP_COMPRESS_##name,
#include "device/half_types.def"
#define COMPRESSION(name, ...) DDP_COMPRESS_##name,
#include "algorithms/algorithms.def"
    DDP_COMPRESS_WORDS
} ddp_compress_word;

/* What a word is. */
typedef struct ddp_compress_row {
    const char *word;
    ddp_wire wire;  /* how numbers of sums travel */
    int compresses; /* it is a compression */
    enum { DDP_NUMBER_NONE, DDP_NUMBER_WHOLE, DDP_NUMBER_REAL } kind; /* of the number behind it */
    const char *argument;                                             /* its name: ":R" */
    double low, high;
} ddp_compress_row;

extern const ddp_compress_row ddp_compress_table[DDP_COMPRESS_WORDS]; /* by the word */

typedef struct ddp_compress_choice {
    ddp_compress_word word;
    double value; /* the number behind it; 0: it has none */
} ddp_compress_choice;

enum { DDP_COMPRESS_TEXT = 32 };

/* The option's argument and meaning, as rows of options/options.def have them. */
extern const char ddp_compress_argument[];
extern const char ddp_compress_meaning[];

/* Returns 0, and leaves *out as it is, where the text is none of these. */
int ddp_compress_choice_parse(ddp_compress_choice *out, const char *text);

/* Write what numbers behind words are accepted, for refusals: ", R a whole number from 1 to 64". */
void ddp_compress_accepts(char *text, size_t size);

/* As one would type it: "bf16", "powersgd:2". Returns text. */
const char *ddp_compress_choice_format(const ddp_compress_choice *c, char text[DDP_COMPRESS_TEXT]);

/* Of the table. */
ddp_wire ddp_compress_choice_wire(const ddp_compress_choice *c);

int ddp_compress_choice_compresses(const ddp_compress_choice *c);

#endif
