/* show/find_terminal.h: finds the terminal that shows this process's output. Under mpirun that is
 * mpirun's own terminal: mpirun copies the ranks' output to it. */
#ifndef DDP_SHOW_FIND_TERMINAL_H
#define DDP_SHOW_FIND_TERMINAL_H

#include "launch/launcher_env.h"

/* Where the output of this process goes. */
typedef struct ddp_terminal_place {
    int terminal; /* descriptor of standard output's terminal; -1: none that can renew a line */
    /* 1: standard error goes to standard output's terminal, too, and may be written there */
    int joined;
} ddp_terminal_place;

/* Find the terminal. The descriptor stays open until the process ends. */
ddp_terminal_place ddp_find_terminal(ddp_launcher launcher);

/* Return the text that a rank other than 0 must print before a line on standard error. It erases
 * rank 0's line of progress. "": mpirun's standard error is no terminal, or the rank is 0. */
const char *ddp_terminal_erasing(ddp_launcher launcher);

#endif
