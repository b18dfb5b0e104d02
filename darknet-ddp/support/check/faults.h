/* check/faults.h: a list of faults in training data, .cfg and .data files. It is kept as text, so
 * that the lists of several ranks can be joined. */
#ifndef DDP_CHECK_FAULTS_H
#define DDP_CHECK_FAULTS_H

#include "base/status.h"

#include <stddef.h>
#include <stdio.h>

typedef enum ddp_fault_level {
    DDP_FAULT_WARNING, /* training goes on, nearly as was meant */
    DDP_FAULT_ERROR    /* training would end, or learn something else than was meant */
} ddp_fault_level;

typedef struct ddp_fault {
    ddp_fault_level level;
    int line;         /* line in the file, from 1; 0: the whole file */
    const char *kind; /* short name that never changes, for programs: "label-columns" */
    const char *file;
    const char *text; /* a sentence, without file and line */
} ddp_fault;

typedef struct ddp_faults {
    /* all faults, a line each: level, line, kind, file, text, with tabs between; NULL: none */
    char *text;
    size_t bytes, room;
    int lost; /* 1: faults are missing for want of memory */
} ddp_faults;

/* Add a fault, with members as in ddp_fault and a text as by printf. Tabs and newlines in file and
 * text become blanks. If there is no memory, f->lost becomes 1. */
void ddp_fault_add(ddp_faults *f, ddp_fault_level level, const char *kind, const char *file,
                   int line, const char *fmt, ...) DDP_PRINTF(6, 7);

/* If has_mark is 1, add a warning that a text file begins with a byte-order mark. */
void ddp_check_bom(ddp_faults *f, const char *file, int has_mark);

/* Remove each fault that repeats an earlier one, since a picture may stand in two lists. Level,
 * kind, file, line and text must be equal; for kinds "picture-..." the text, which names a line of
 * a list, may differ. Without memory nothing is removed. */
void ddp_faults_unique(ddp_faults *f);

/* Return 1 if there is a fault whose kind is, or begins with, `kind`; else 0. */
int ddp_faults_have(const ddp_faults *f, const char *kind);

void ddp_faults_release(ddp_faults *f); /* frees the list; *f may be all zero */

/* Call each(ctx, fault) for every fault in turn; the fault's strings are valid until `each`
 * returns. Afterwards only f->lost may be read, and *f released. */
void ddp_faults_each(ddp_faults *f, void (*each)(void *ctx, const ddp_fault *fault), void *ctx);

#endif
