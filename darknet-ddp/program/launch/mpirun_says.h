/* launch/mpirun_says.h: what Open MPI's mpirun says, of versions 4 and 5. It speaks of its ranks in
 * frames: text between two lines of dashes. */
#ifndef DDP_LAUNCH_MPIRUN_SAYS_H
#define DDP_LAUNCH_MPIRUN_SAYS_H

#include <stddef.h>

/* The content of a frame: text between two lines of dashes. */
typedef struct ddp_mpirun_frame {
    int is_end;         /* only that ranks have ended, or cannot be started */
    int is_no_start;    /* that ranks cannot be started; is_end is 1, too */
    int rank;           /* the one that ended first, by a signal or before all was done; -1: none */
    int signal;         /* that ended it; 0: it ended by itself, with exit status 0 */
    char host[128];     /* that rank's */
    char lost[128];     /* the host whose daemon mpirun has lost; empty: none */
    char sentence[400]; /* the frame's first words, up to a stop or colon */
} ddp_mpirun_frame;

/* Read a frame, from its first line of dashes to its last. Words may be broken into lines at any
 * blank. */
void ddp_mpirun_read_frame(ddp_mpirun_frame *out, const char *text);

/* Return 1 if the line, of so many bytes, is the first or last of a frame. */
int ddp_mpirun_is_rule(const char *line, size_t bytes);

/* Return 1 if the line is mpirun's and means nothing to a user who did not start mpirun. */
int ddp_mpirun_is_aside(const char *line, size_t bytes);

#endif
