/* launch/output_relay.h: passes on what a launcher (mpirun) and its ranks print, read from a pipe.
 *
 * mpirun dies when its output cannot be written. With a pipe in between, text that nobody reads, or
 * for which the disk has no room, is dropped, and the ranks go on. On standard error the relay also
 * keeps back the notes that ranks send (launch/child.h), and mpirun's frames about ranks that ended
 * or could not start (launch/mpirun_says.h). It notes the facts of both in the struct, so that
 * ddp_child can say in one sentence why a job ended. */
#ifndef DDP_LAUNCH_OUTPUT_RELAY_H
#define DDP_LAUNCH_OUTPUT_RELAY_H

#include "launch/mpirun_says.h"

#include <poll.h>
#include <stddef.h>

/* Sizes in bytes. */
enum {
    DDP_RELAY_BYTES = 1 << 16, /* while more bytes wait to be written, the pipe is not read */
    DDP_RELAY_FRAME = 4096,    /* log, line, frame and withheld of ddp_output_relay, each */
    DDP_RELAY_WHY = 400        /* text in ddp_output_relay.why */
};

typedef struct ddp_output_relay {
    int from;        /* non-blocking end of the pipe to read from; -1: the output has ended */
    int to;          /* descriptor to which text is passed on */
    int filters;     /* 1: ranks' notes, and frames about ranks' ends, are kept back */
    int on_progress; /* 1: the text passed on ends with a line of progress, which may be erased */
    /* relay to the same terminal, whose line of progress is erased before a write; NULL: none */
    struct ddp_output_relay *beside;
    int unread;             /* 1: nobody reads the output any more, so all text is dropped */
    int told;               /* 1: a sentence of this program, or of a rank, was passed on */
    int advised;            /* 1: a sentence on how to go on with the run was passed on */
    int no_start;           /* 1: mpirun could not start the ranks */
    int notes;              /* bits of all notes that ranks have sent (ddp_launcher_note) */
    int begun;              /* number of ranks that have sent DDP_NOTE_BEGINS */
    ddp_mpirun_frame ended; /* mpirun's frame about the first rank that ended; rank -1: none */
    char lost[128];         /* host whose daemon mpirun has lost; "": none */
    /* words that may tell why the job failed: the last line outside frames that is not known to be
     * this program's. Else the first words of the first frame kept back; "": none */
    char why[DDP_RELAY_WHY];
    char log[DDP_RELAY_FRAME]; /* path of the run's NAME.log; "" until rank 0 has sent it */
    /* With `filters` 0 unused: from `told` to `log` above, and from in_frame to withheld_bytes */
    int in_frame; /* 1: a frame of mpirun has begun and not ended */
    int in_line;  /* 1: the beginning of a line was passed on, so the rest of the line is, too */
    char line[DDP_RELAY_FRAME];     /* a line that is not whole yet */
    char frame[DDP_RELAY_FRAME];    /* a frame that is not whole yet */
    char withheld[DDP_RELAY_FRAME]; /* text of the frames that were kept back */
    size_t line_bytes, frame_bytes, withheld_bytes;
    size_t out_bytes;
    char out[2 * DDP_RELAY_BYTES]; /* out[0..out_bytes): text that waits to be written */
} ddp_output_relay;

/* Set up *r to pass on what comes from the pipe's end `from`, which becomes non-blocking, to the
 * descriptor `to`. The caller's poll moves the text: ddp_output_relay_wants, then _move.
 * The relay closes `from`. filters: 1 for standard error. */
void ddp_output_relay_open(ddp_output_relay *r, int from, int to, int filters);

/* Set fds[0] and fds[1] to what the caller's poll has to wait for; descriptor -1: nothing. */
void ddp_output_relay_wants(const ddp_output_relay *r, struct pollfd *fds);

/* Read some of what is in the pipe, and write what can be written now. Never waits. */
void ddp_output_relay_move(ddp_output_relay *r);

/* Pass on what is left in the pipe, for about 2 seconds at most, and close it. Call when the
 * writers have ended. Frames that were kept back go to the file r->log, if it exists. If `all` is
 * 1, they go to the output, too. */
void ddp_output_relay_finish(ddp_output_relay *r, int all);

/* A note of a rank (launch/child.h) is a line: DDP_NOTE_LINE and a number, or DDP_NOTE_LINE,
 * DDP_NOTE_LOG and the path of NAME.log. */
#define DDP_NOTE_LINE "\036darknet-ddp "
#define DDP_NOTE_LOG "log "

/* Words in the middle of each sentence on how to go on with a run; they mark it as such. */
extern const char ddp_resume_hint[];

#endif
