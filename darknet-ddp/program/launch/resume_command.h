/* launch/resume_command.h: command lines that go on with a run, for messages. One thread at a time
 * may call these. */
#ifndef DDP_LAUNCH_RESUME_COMMAND_H
#define DDP_LAUNCH_RESUME_COMMAND_H

#include <sys/types.h>

typedef struct ddp_resume_how {
    const char *option; /* "-resume" or "-resume_force" */
    int epochs;         /* new value of an -epochs in the command line; 0: the old one stays */
    int patience;       /* new value of a -patience in the command line; 0: the old one stays */
} ddp_resume_how;

/* Return the command line that goes on with this run, quoted for a shell, in backquotes: with
 * how.option, and without -clear and -ddp_take_over, which are for a beginning. In a rank (launched
 * is 1) it is the line of the darknet or mpirun that started the ranks, if that runs on this host.
 * If it does not: "the same command line with -resume". The caller frees it; NULL without memory.
 */
char *ddp_resume_command(int launched, ddp_resume_how how);

/* Return the command that trains a finished run further, by -resume_force, with `epochs` as its
 * -epochs. If epochs is 0, the result is "with a larger max_batches= in CFG COMMAND". launched: 1
 * in a rank that a launcher started. The caller frees it. NULL: no memory. */
char *ddp_command_to_train_further(int launched, int epochs, const char *cfg);

/* Return 1 if process `pid` is an mpirun by its name. */
int ddp_is_mpirun(pid_t pid);
/* Return 1 if process `pid` is by its name the daemon that an mpirun starts on another host. */
int ddp_is_mpiruns_daemon(pid_t pid);

/* Return the line of ddp_resume_command, made from the words argv, which NULL ends. For a process
 * that starts ranks. The caller frees it; NULL without memory. */
char *ddp_resume_command_of(char *const *argv, ddp_resume_how how);

/* Return the command line of this process as it is, quoted for a shell. The caller frees it; NULL
 * if it cannot be read, or without memory. */
char *ddp_command_line(void);

/* Return "COMMAND goes on from WHERE". The caller frees it; command stays. NULL: command is NULL,
 * or there is no memory. */
char *ddp_resume_advice(char *command, const char *where);

#endif
