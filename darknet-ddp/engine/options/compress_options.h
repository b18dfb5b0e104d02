/* options/compress_options.h: the values of -ddp_compress, such as "bf16" or "powersgd:2". A value
 * is a word: none, a type in which gradients are sent (device/half_types.def), or a compression
 * (algorithms/algorithms.def). Some compressions have a number behind the word. */
#ifndef DDP_OPTIONS_COMPRESS_OPTIONS_H
#define DDP_OPTIONS_COMPRESS_OPTIONS_H

#include "base/status.h"
#include "device/float16.h"

typedef enum ddp_compress_word {
    DDP_COMPRESS_none,
#define HALF(NAME, name, ...) DDP_COMPRESS_##name,
#define EIGHT(NAME, name, ...) DDP_COMPRESS_##name,
#include "device/half_types.def"
#define COMPRESSION(name, ...) DDP_COMPRESS_##name,
#include "algorithms/algorithms.def"
    DDP_COMPRESS_WORDS
} ddp_compress_word;

/* A word of -ddp_compress. */
typedef struct ddp_compress_row {
    const char *word;
    ddp_wire wire;  /* type in which numbers are sent with this word */
    int compresses; /* 1: the word names a compression */
    enum {
        DDP_NUMBER_NONE,
        DDP_NUMBER_WHOLE,
        DDP_NUMBER_REAL
    } kind;               /* kind of the number behind the word */
    const char *argument; /* text behind the word in help: ":R"; "" without a number */
    double low, high;     /* least and largest number accepted; both 0 without a number */
} ddp_compress_row;

extern const ddp_compress_row
    ddp_compress_table[DDP_COMPRESS_WORDS]; /* all words, indexed by ddp_compress_word */

typedef struct ddp_compress_choice {
    ddp_compress_word word;
    double value; /* number behind the word; 0 for a word without one */
} ddp_compress_choice;

enum { DDP_COMPRESS_TEXT = 32 }; /* bytes of a choice as text, with the zero at its end */

/* The columns `argument` and `meaning` of -ddp_compress in options/options.def. */
extern const char ddp_compress_argument[];
extern const char ddp_compress_meaning[];

/* Read a text such as "bf16" or "powersgd:2" into *out, and return 1. If it is no word, or its
 * number is missing or not accepted, return 0, with *out unchanged. */
int ddp_compress_choice_parse(ddp_compress_choice *out, const char *text);

/* Write to text[0..size) which numbers may stand behind the words of -ddp_compress, as an end of an
 * error's sentence: ", R a whole number from 1 to 64". */
void ddp_compress_accepts(char *text, size_t size);

/* Write c as it is typed, "bf16" or "powersgd:2", to text. Returns text. */
const char *ddp_compress_choice_format(const ddp_compress_choice *c, char text[DDP_COMPRESS_TEXT]);

/* Return the type in which numbers are sent with c. */
ddp_wire ddp_compress_choice_wire(const ddp_compress_choice *c);

/* Return 1 if the word of c names a compression, else 0. */
int ddp_compress_choice_compresses(const ddp_compress_choice *c);

#endif
