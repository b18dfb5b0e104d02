/* base/status.h: an error as a code to branch on and a line to read.
 *
 * Functions that can fail return ddp_status, unless their comments say otherwise. Their last
 * parameter is an error that the caller owns. It means nothing after a success, so one ddp_error on
 * the stack serves a chain of calls. */
#ifndef DDP_BASE_STATUS_H
#define DDP_BASE_STATUS_H

typedef enum ddp_status {
    DDP_OK = 0,
    DDP_ERR_USAGE = -1,   /* options, a cfg or a caller ask for something not allowed */
    DDP_ERR_NOMEM = -2,   /* no host or device memory is left */
    DDP_ERR_IO = -3,      /* a file, folder, program or network interface cannot be used */
    DDP_ERR_FORMAT = -4,  /* a file is damaged or of another kind, or a number is not finite */
    DDP_ERR_COMM = -5,    /* a peer, a GPU or the transport failed: the group is dead */
    DDP_ERR_MISMATCH = -6 /* ranks, files, or a file and this run, do not belong together */
} ddp_status;

typedef struct ddp_error {
    ddp_status code;
    char text[512]; /* one line, no newline, ready to show to a person */
} ddp_error;

#define DDP_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define DDP_MUST_CHECK __attribute__((warn_unused_result))

/* Write a failure to *err: a code, and a text as by printf. err->text must not be an argument of
 * the text. Returns code. */
ddp_status ddp_fail(ddp_error *err, ddp_status code, const char *fmt, ...) DDP_PRINTF(3, 4);

/* Put a text as by ddp_fail, and ": ", before the text of *err. Returns err->code. */
ddp_status ddp_wrap(ddp_error *err, const char *fmt, ...) DDP_PRINTF(2, 3);

#endif
