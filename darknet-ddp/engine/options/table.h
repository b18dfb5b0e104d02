/* options/table.h: the table of options, options/options.def, as an array. */
#ifndef DDP_OPTIONS_TABLE_H
#define DDP_OPTIONS_TABLE_H

#include "options/options.h"

/* A bit of ddp_option.columns: the command `id` (ddp_command_id) reads the option. */
#define DDP_OPTION_READ_BY(id) ((unsigned)DDP_OPTION_USUAL << 1U << (id))

/* The kinds and scopes of options; options/options.def explains each. */
enum ddp_option_kind {
    DDP_OPTION_KIND_FLAG,
    DDP_OPTION_KIND_WHOLE,
    DDP_OPTION_KIND_REAL,
    DDP_OPTION_KIND_SEED,
    DDP_OPTION_KIND_CHOICE,
    DDP_OPTION_KIND_SKIP,
    DDP_OPTION_KIND_TEXT,
    DDP_OPTION_KIND_GPUS,
    DDP_OPTION_KIND_COMPRESS
};
enum ddp_option_scope {
    DDP_OPTION_SCOPE_ANYWHERE,
    DDP_OPTION_SCOPE_RANKS,
    DDP_OPTION_SCOPE_COMMAND,
    DDP_OPTION_SCOPE_SHARED
};

/* A row of options/options.def. */
typedef struct ddp_option {
    enum ddp_option_kind kind;
    /* offset of the option's field in ddp_options; the field's type follows from kind */
    size_t field;
    const char *name;
    /* argument as help shows it; "": it takes none. The words of a CHOICE have | between them. A
     * TEXT that may be left out begins with [ */
    const char *argument;
    double low, high;  /* least and largest value of WHOLE, REAL and SKIP */
    double fallback;   /* default; of a CHOICE, index of the default word */
    const char *shown; /* default in words; NULL: the number or word in fallback */
    enum ddp_option_scope scope;
    unsigned columns; /* bits DDP_OPTION_...; if scope is COMMAND, also bits DDP_OPTION_READ_BY */
    const char *meaning;
} ddp_option;

/* Some rows of one subject. They end before the first row of the next group. */
typedef struct ddp_option_group {
    int first; /* number of the first row */
    const char *title;
    const char *guide; /* name of their guide: darknet-ddp/docs/GUIDE.md */
} ddp_option_group;

extern const ddp_option ddp_option_table[DDP_OPTION_ROWS];

/* Return the group of a row. row: its index in ddp_option_table. */
const ddp_option_group *ddp_option_group_of(int row);

/* The texts of an option in help, the manual and completion. */
typedef struct ddp_option_text {
    char name[256];     /* name and argument */
    char fallback[64];  /* default value; "": none */
    char meaning[1024]; /* meaning. If only commands of `darknet ddp` read the option, it begins
                           with their verbs: "plan, bench: " */
} ddp_option_text;

/* Write the texts of a row into *text, and return text. */
const ddp_option_text *ddp_option_describe(const ddp_option *row, ddp_option_text *text);

#endif
