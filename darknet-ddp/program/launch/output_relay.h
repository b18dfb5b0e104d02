/* launch/output_relay.h: reads what a launcher (mpirun) and its ranks print from a pipe, and passes
 * it on.
 *
 * mpirun dies when the reader of its output has gone. So it writes into pipes, and this process
 * writes for it. Text that nobody reads, or for which the disk has no room, is dropped, and the
 * ranks go on. In frames (launch/mpirun_says.h) mpirun explains why it ended, or could not start,
 * in more words than a user wants. Such frames on standard error are kept back; the fields `ended`,
 * `lost` and `why` keep their facts. */
#ifndef DDP_LAUNCH_OUTPUT_RELAY_H
#define DDP_LAUNCH_OUTPUT_RELAY_H

#include "launch/mpirun_says.h"

#include <poll.h>
#include <stddef.h>

/* DDP_RELAY_BYTES: while more bytes wait to be written, nothing is read from the pipe.
 * DDP_RELAY_FRAME: bytes for a line, a path, one of mpirun's frames, or all those that are kept
 * back. DDP_RELAY_WHY: bytes for a sentence. */
enum { DDP_RELAY_BYTES = 1 << 16, DDP_RELAY_FRAME = 4096, DDP_RELAY_WHY = 400 };

typedef struct ddp_output_relay {
    int from;    /* end of the pipe to read from, not blocking; -1: the output has ended */
    int to;      /* descriptor of this process to which text is passed on */
    int filters; /* 1: ranks' notes and mpirun's frames are kept back, as on standard error */
    int stands;  /* 1: the text passed on ends with a line of progress, which may be erased */
    /* relay to the same terminal, whose line of progress is erased before a write; NULL: none */
    struct ddp_output_relay *beside;
    int unread;             /* 1: nobody takes the output any more */
    int told;               /* 1: a sentence of this program, or of a rank, was passed on */
    int advised;            /* 1: a sentence on how to go on with the run was passed on */
    int no_start;           /* 1: mpirun could not start the ranks */
    int notes;              /* bits of all notes that ranks have sent (ddp_launcher_note) */
    int begun;              /* number of ranks that have sent DDP_NOTE_BEGINS */
    ddp_mpirun_frame ended; /* mpirun's frame about the first rank that ended */
    char lost[128];         /* host whose daemon mpirun has lost; "": none */
    /* last line outside frames that does not begin with "darknet"; if none came, the first words of
     * the first frame that was kept back; "": neither came */
    char why[DDP_RELAY_WHY];
    char log[DDP_RELAY_FRAME]; /* path of the run's NAME.log; "" until rank 0 has told it */
    /* `framed` to `withheld_bytes` are used only if `filters` is 1: */
    int framed;  /* 1: a frame of mpirun has begun and not ended */
    int passing; /* 1: the line's beginning was passed on, so the rest of the line must be */
    char line[DDP_RELAY_FRAME];     /* a line that has come in part */
    char frame[DDP_RELAY_FRAME];    /* the frame that is being read */
    char withheld[DDP_RELAY_FRAME]; /* text of frames that were kept back, as many as fit */
    size_t line_bytes, frame_bytes, withheld_bytes;
    /* the text that waits to be written: out[0..out_bytes) */
    size_t out_bytes;
    char out[2 * DDP_RELAY_BYTES];
} ddp_output_relay;

/* Set *r to pass on what comes from the pipe's end `from` to the descriptor `to`. `filters` is 1
 * for standard error, whose notes and frames are kept back. The relay closes `from`;
 * ddp_output_relay_finish ends it. */
void ddp_output_relay_open(ddp_output_relay *r, int from, int to, int filters);

/* Set fds[0] and fds[1] to what the caller's poll has to wait for; descriptor -1: nothing. */
void ddp_output_relay_wants(const ddp_output_relay *r, struct pollfd *fds);

/* Read and write what can be read and written now. Never waits. */
void ddp_output_relay_move(ddp_output_relay *r);

/* Pass on what is left in the pipe, and lines that have come in part. Takes about a second at most.
 * Call after the writers have ended. Frames that were kept back are added to the file r->log, if it
 * exists. If `all` is 1, they are passed on, too. */
void ddp_output_relay_finish(ddp_output_relay *r, int all);

/* Beginning of a line in which a rank tells this process something (launch/child.h). A note's
 * number follows, or DDP_NOTE_LOG and the path of NAME.log. Such a line is not passed on. */
#define DDP_NOTE_LINE "\036darknet-ddp "
#define DDP_NOTE_LOG "log "

/* Words by which a rank's line is known to say how to go on with the run. */
extern const char ddp_resume_hint[];

#endif
