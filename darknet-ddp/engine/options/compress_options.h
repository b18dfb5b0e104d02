/* options/compress_options.h: what -ddp_compress may say: none, a type of float of the wire
 * (device/float16.h), or a word of algorithms/, with a number behind it where that wants one. */
#ifndef DDP_OPTIONS_COMPRESS_OPTIONS_H
#define DDP_OPTIONS_COMPRESS_OPTIONS_H

#include "base/status.h"
#include "device/float16.h"

/* The words of the option, in the order of the table. Up to DDP_CHOICE_FP16 a word is the ddp_wire
 * of its number. */
typedef enum ddp_compress_word {
    DDP_CHOICE_NONE,
    DDP_CHOICE_BF16,
    DDP_CHOICE_FP16,
#define ALGORITHM(name)
#define ROW(...)
#define WORD(name, ...) DDP_CHOICE_##name,
#include "algorithms/algorithms.def"
#undef WORD
#undef ROW
#undef ALGORITHM
    DDP_CHOICES
} ddp_compress_word;

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

/* As one would type it: "bf16", "powersgd:2", "topk:0.5". Returns text. */
const char *ddp_compress_choice_format(const ddp_compress_choice *c, char text[DDP_COMPRESS_TEXT]);

/* How numbers of sums travel. */
ddp_wire ddp_compress_choice_wire(const ddp_compress_choice *c);

/* Is it a word of algorithms/, with which ranks keep errors of their own? */
int ddp_compress_choice_has_errors(const ddp_compress_choice *c);

#endif
