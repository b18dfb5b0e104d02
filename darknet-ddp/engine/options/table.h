/* options/table.h: the rows of options/options.def as data, for options.c and options_list.c. */
#ifndef DDP_OPTIONS_TABLE_H
#define DDP_OPTIONS_TABLE_H

#include "options/options.h"

enum kind { FLAG, WHOLE, REAL, SEED, CHOICE, SKIP, TEXT, GPUS, COMPRESS };
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
#define GROUP(field, title)
#include "options/options.def"
#undef GROUP
#undef ROW
    DDP_OPTION_ROWS
};

/* A title for the rows from this one on. */
typedef struct ddp_option_group {
    int first;
    const char *title;
} ddp_option_group;

extern const ddp_option ddp_option_table[DDP_OPTION_ROWS];

/* The title of a group that begins with this row; NULL: none does. */
const char *ddp_option_title(int row);

/* A row's name with what follows it, and its default in words, "" where there is none to say. */
void ddp_option_describe(const ddp_option *row, char *name, size_t name_size, char *fallback,
                         size_t fallback_size);

#endif
