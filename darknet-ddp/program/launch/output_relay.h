/* launch/output_relay.h: what a launcher and its ranks print, read from a pipe and passed on.
 *
 * mpirun dies when the reader of its output has gone. So it writes into pipes, and this process
 * writes for it. Text that cannot be written (nobody reads, the disk is full) is dropped, and the
 * ranks go on. In frames mpirun explains why it ended, or could not start, in more words than
 * a user wants. Such frames on standard error are kept back. `ended`, `lost` and `why` have what
 * they say that the ranks have not said.
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
    int stands; /* the last text passed on ends with a line that renews itself */
    struct ddp_output_relay
        *beside;  /* the relay to the same terminal: its line is erased first; NULL: none */
    int unread;   /* nobody takes the output any more */
    int told;     /* a sentence of ours, or of a rank, has passed */
    int advised;  /* one of how to go on has */
    int no_start; /* mpirun could not start the ranks */
    int notes;    /* all notes of ranks that have come (ddp_launcher_note) */
    ddp_mpirun_frame ended;    /* mpirun's frame about the first rank that ended */
    char lost[128];            /* the host whose daemon mpirun has lost; empty: none */
    char why[DDP_RELAY_WHY];   /* the last line that is no rank's, or what a frame begins with */
    char log[DDP_RELAY_FRAME]; /* NAME.log, where rank 0 has named it; else empty */
    /* filtering */
    int framed;                     /* within a frame of mpirun's */
    int passing;                    /* the rest of this line has to follow what passed */
    char line[DDP_RELAY_FRAME];     /* that has come in part */
    char frame[DDP_RELAY_FRAME];    /* that is being read */
    char withheld[DDP_RELAY_FRAME]; /* text of frames that were kept back */
    size_t line_bytes, frame_bytes, withheld_bytes;
    /* on its way out */
    size_t out_bytes;
    char out[2 * DDP_RELAY_BYTES];
} ddp_output_relay;

/* Fill *r, to pass on what comes from the pipe's end `from` to the descriptor `to`. The relay
 * closes `from`. filters: 1 for standard error, of which notes and frames are kept back. */
void ddp_output_relay_open(ddp_output_relay *r, int from, int to, int filters);

/* Set fds[0] and fds[1] to what the caller's poll is to wait for; descriptor -1: nothing. */
void ddp_output_relay_wants(const ddp_output_relay *r, struct pollfd *fds);

/* Read and write what can be read and written now. Never waits. */
void ddp_output_relay_move(ddp_output_relay *r);

/* Pass on what is left in the pipe and what was held in part, for a second at most. Call once the
 * writers are gone. Frames that were kept back are added to the file r->log, if it is there; with
 * `all` they are passed on, too. */
void ddp_output_relay_finish(ddp_output_relay *r, int all);

/* The beginning of a line in which a rank tells this process something (launch/child.h): behind it
 * stands a note's number, or DDP_NOTE_LOG and the path of NAME.log. It is not passed on. */
#define DDP_NOTE_LINE "\036darknet-ddp "
#define DDP_NOTE_LOG "log "

/* The words of a line in which a rank says how to go on. `advised` is set at them. */
extern const char ddp_resume_hint[];

#endif
