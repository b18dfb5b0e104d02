/* launch/mpirun_says.h: reads the messages that Open MPI's mpirun, 4 or 5, prints about its ranks.
 * Most are frames: text between two lines of dashes. */
#ifndef DDP_LAUNCH_MPIRUN_SAYS_H
#define DDP_LAUNCH_MPIRUN_SAYS_H

#include <stddef.h>

/* The facts that a frame tells. */
typedef struct ddp_mpirun_frame {
    int is_end;         /* 1: the frame says only that ranks or a daemon ended, or cannot start */
    int is_no_start;    /* 1: the frame says that ranks cannot be started; is_end is 1, too */
    int rank;           /* first rank that ended by a signal or too early; -1: none is named */
    int signal;         /* signal that ended rank `rank`; 0: none did, the rank ended too early */
    char host[128];     /* host of rank `rank`; "": rank is -1 */
    char lost[128];     /* host whose daemon mpirun has lost; "": none */
    char sentence[400]; /* the frame's first words, up to a full stop or colon */
} ddp_mpirun_frame;

/* Set *out to the facts in a frame. text: the whole frame, with both lines of dashes. */
void ddp_mpirun_read_frame(ddp_mpirun_frame *out, const char *text);

/* Return 1 if the line of `bytes` bytes is the first or last one of a frame. */
int ddp_mpirun_is_rule(const char *line, size_t bytes);

/* Return 1 if the line of `bytes` bytes is one of mpirun's that tells users of darknet nothing. */
int ddp_mpirun_is_aside(const char *line, size_t bytes);

#endif
