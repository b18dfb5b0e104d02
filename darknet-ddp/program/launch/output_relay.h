/* launch/output_relay.h: what a launcher and its ranks print, read from a pipe and passed on.
 *
 * mpirun dies when the reader of its output has gone, and it says more about a failure than the
 * ranks do. So it writes into pipes, and this process writes for it: what cannot be written (nobody
 * reads, the disk is full) is dropped, and the ranks go on. Of standard error mpirun's framed
 * explanations of why it ended, or could not start, are kept back; what they say that the ranks
 * have not said is in ddp_output_relay_found and in `why`.
 */
#ifndef DDP_LAUNCH_OUTPUT_RELAY_H
#define DDP_LAUNCH_OUTPUT_RELAY_H

#include "launch/mpirun_says.h"

#include <poll.h>
#include <stddef.h>

/* Bytes that wait for their reader, text of mpirun's that may have to be said, and a sentence. */
enum { DDP_RELAY_BYTES = 1 << 16, DDP_RELAY_FRAME = 4096, DDP_RELAY_WHY = 400 };

typedef struct ddp_output_relay {
    int from; /* end of a pipe, not blocking; -1: at its end */
    int to;   /* a descriptor of this process */
    int filters;
    int stands; /* what was passed on last ends with a line that renews itself */
    struct ddp_output_relay
        *beside;               /* of the same terminal: its line is erased first; NULL: none */
    int unread;                /* nobody takes the output any more */
    int told;                  /* a sentence of ours, or of a rank, has passed */
    int advised;               /* one of how to go on has */
    int no_start;              /* mpirun could not start the ranks */
    int notes;                 /* of ranks, all that have come */
    ddp_mpirun_frame ended;    /* what mpirun said of the first rank that ended */
    char lost[128];            /* the host whose daemon mpirun has lost; empty: none */
    char why[DDP_RELAY_WHY];   /* the last line that is no rank's, or what a frame begins with */
    char log[DDP_RELAY_FRAME]; /* NAME.log, where rank 0 has named it; else empty */
    /* filtering */
    int framed;                     /* within a frame of mpirun's */
    int passing;                    /* the rest of this line has to follow what passed */
    char line[DDP_RELAY_FRAME];     /* that has come in part */
    char frame[DDP_RELAY_FRAME];    /* that is being read */
    char withheld[DDP_RELAY_FRAME]; /* of frames that were kept back */
    size_t line_bytes, frame_bytes, withheld_bytes;
    /* on its way out */
    size_t out_bytes;
    char out[2 * DDP_RELAY_BYTES];
} ddp_output_relay;

/* Pass on from the pipe's end `from`, which becomes the relay's, to `to`. */
void ddp_output_relay_open(ddp_output_relay *r, int from, int to, int filters);

/* What to wait for: into fds[0..2). Descriptors of -1 are passed over by poll. */
void ddp_output_relay_wants(const ddp_output_relay *r, struct pollfd *fds);

/* Do what can be done now. Never waits. */
void ddp_output_relay_move(ddp_output_relay *r);

/* The writers are gone: what is left in the pipe, and what was held in part, goes out, for a second
 * at most. What was kept back goes behind what r->log has, where that file is there; with `all` it
 * goes out, too. */
void ddp_output_relay_finish(ddp_output_relay *r, int all);

/* A line with a number behind this is a note of a rank (launch/child.h), one with DDP_NOTE_LOG and
 * a path names NAME.log; neither is passed on. */
#define DDP_NOTE_LINE "\036darknet-ddp "
#define DDP_NOTE_LOG "log "

/* A rank says how to go on in a line with these words; launchers look for them. */
extern const char ddp_resume_hint[];

#endif
