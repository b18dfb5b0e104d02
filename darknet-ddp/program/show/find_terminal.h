/* show/find_terminal.h: finds the terminal that shows this process's output. Under mpirun that is
 * mpirun's own terminal: mpirun copies the ranks' output to it. */
#ifndef DDP_SHOW_FIND_TERMINAL_H
#define DDP_SHOW_FIND_TERMINAL_H

#include "launch/launcher_env.h"

/* Where the output of this process goes. */
typedef struct ddp_terminal_place {
    int terminal; /* descriptor of the terminal, maybe read-only; -1: none that can renew a line */
    /* 1: standard error goes to the terminal, too: its text may be written to standard output */
    int joined;
} ddp_terminal_place;

/* Find the terminal. The descriptor stays open until the process ends. */
ddp_terminal_place ddp_find_terminal(ddp_launcher launcher);

/* Return the text that a rank must print before a line on standard error to erase rank 0's line of
 * progress. Returns "" on rank 0, if mpirun's standard error is no terminal, or if
 * ddp_supervisor_is_ours returns 1. */
const char *ddp_terminal_erasing(ddp_launcher launcher);

#endif
