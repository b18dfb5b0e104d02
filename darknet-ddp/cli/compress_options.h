/* cli/compress_options.h: what -ddp_compress may say, and what that means below. */
#ifndef DDP_CLI_COMPRESS_OPTIONS_H
#define DDP_CLI_COMPRESS_OPTIONS_H

#include "base/status.h"
#include "core/feedback.h"
#include "device/half.h"

/* The words of the option, in the order of the table. */
typedef enum ddp_compress_word {
    DDP_CHOICE_NONE,
    DDP_CHOICE_BF16,
    DDP_CHOICE_FP16,
    DDP_CHOICE_POWERSGD,
    DDP_CHOICE_TOP_K
} ddp_compress_word;

typedef struct ddp_compress_choice {
    ddp_compress_word word;
    int rank;       /* of powersgd */
    double percent; /* of topk */
} ddp_compress_choice;

enum { DDP_COMPRESS_TEXT = 32 };

/* What the option accepts, for refusals. */
extern const char ddp_compress_accepts[];

/* Returns 0, and leaves *out as it is, where the text is none of these. */
int ddp_compress_choice_parse(ddp_compress_choice *out, const char *text);

/* As one would type it: "bf16", "powersgd:2", "topk:0.5". Returns text. */
const char *ddp_compress_choice_format(const ddp_compress_choice *c, char text[DDP_COMPRESS_TEXT]);

/* How numbers of sums travel, and what is made of gradients before. */
ddp_wire ddp_compress_choice_wire(const ddp_compress_choice *c);
ddp_compress_config ddp_compress_choice_config(const ddp_compress_choice *c);

/* Do ranks keep errors of their own? */
int ddp_compress_choice_has_errors(const ddp_compress_choice *c);

#endif
