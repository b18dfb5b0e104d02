/* cli/option_table.h: the rows of cli/options.def as data, for options.c and options_list.c. */
#ifndef DDP_CLI_OPTION_TABLE_H
#define DDP_CLI_OPTION_TABLE_H

#include "cli/options.h"

enum kind { FLAG, WHOLE, REAL, SEED, CHOICE, SKIP, TEXT, GPUS };
enum scope { ANYWHERE, RANKS, COMMAND, SHARED };

typedef struct ddp_option {
    enum kind kind;
    size_t field; /* in ddp_options; its type follows from kind */
    const char *name;
    const char *argument; /* of a CHOICE its words, with | between them */
    double low, high;
    double fallback;
    const char *shown; /* the default, in words; NULL: see fallback */
    enum scope scope;
    unsigned columns; /* DDP_OPTION_... */
    const char *meaning;
} ddp_option;

enum {
#define ROW(kind, field, ...) DDP_OPTION_ROW_##field,
#include "cli/options.def"
#undef ROW
    DDP_OPTION_ROWS
};

extern const ddp_option ddp_option_table[DDP_OPTION_ROWS];

#endif
