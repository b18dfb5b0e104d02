/* options/table.h: the rows of options/options.def as data, for options.c and list.c. */
#ifndef DDP_OPTIONS_TABLE_H
#define DDP_OPTIONS_TABLE_H

#include "options/options.h"

/* The bit of a command in the columns of an option that it reads. */
#define DDP_OPTION_READ_BY(id) ((unsigned)DDP_OPTION_USUAL << 1U << (id))

/* The kinds and scopes of options.def, where they are explained. */
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

typedef struct ddp_option {
    enum ddp_option_kind kind;
    size_t field; /* in ddp_options; its type follows from kind */
    const char *name;
    const char *argument; /* the argument in help; a CHOICE's words, with | between them */
    double low, high;
    double fallback;
    const char *shown; /* the default, in words; NULL: see fallback */
    enum ddp_option_scope scope;
    unsigned columns; /* DDP_OPTION_... */
    const char *meaning;
} ddp_option;

enum {
#define ROW(kind, field, ...) DDP_OPTION_ROW_##field,
#define GROUP(field, ...)
#include "options/options.def"
#undef GROUP
#undef ROW
    DDP_OPTION_ROWS
};

/* A group of rows: from `first` to the next group's first. */
typedef struct ddp_option_group {
    int first;
    const char *title;
    const char *guide; /* darknet-ddp/docs/GUIDE.md says more of them */
} ddp_option_group;

extern const ddp_option ddp_option_table[DDP_OPTION_ROWS];

/* Return the group that a row belongs to. */
const ddp_option_group *ddp_option_group_of(int row);

/* The texts of an option in help, the manual and completion. */
typedef struct ddp_option_text {
    char name[256];     /* with its argument */
    char fallback[64];  /* its default; "": there is none to say */
    char meaning[1024]; /* an option of `darknet ddp` alone names its verbs first */
} ddp_option_text;

/* Write the texts of a row into *text, and return it. */
const ddp_option_text *ddp_option_describe(const ddp_option *row, ddp_option_text *text);

#endif
