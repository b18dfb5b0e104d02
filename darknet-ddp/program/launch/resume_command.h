/* launch/resume_command.h: makes command lines that a user can type to resume this run, for
 * messages. One thread at a time may call these functions. */
#ifndef DDP_LAUNCH_RESUME_COMMAND_H
#define DDP_LAUNCH_RESUME_COMMAND_H

#include <sys/types.h>

/* How the new command line differs from the present one. It also has no -clear and no
 * -ddp_take_over, which only a run's first start needs. */
typedef struct ddp_resume_how {
    const char *option; /* "-resume" or "-resume_force", added unless the line has -resume_force */
    int epochs;         /* new number after -epochs, if the line has that; 0: the old one */
    int patience;       /* new number after -patience, if the line has that; 0: the old one */
} ddp_resume_how;

/* Return the command line that resumes this run, quoted for a shell, in backquotes. If it is not
 * known, as after srun or on another host, return "the same command line with " and how.option. The
 * caller frees it. NULL: no memory.
 *   launched  1: a launcher started this rank; the line is that of the darknet or mpirun that
 *             started the ranks */
char *ddp_resume_command(int launched, ddp_resume_how how);

/* Return the command line that trains a finished run further, with -resume_force, for a message.
 * The caller frees it. NULL: no memory.
 *   launched  1: a launcher started this rank
 *   epochs    new -epochs of the line; 0: none, and the words "with a larger max_batches= in
 *             CFG" stand before the line */
char *ddp_command_to_train_further(int launched, int epochs, const char *cfg);

/* Return 1 if process `pid` runs a program with the name of an mpirun. */
int ddp_is_mpirun(pid_t pid);
/* Return 1 if process `pid` is by its name the daemon that Open MPI's mpirun starts on another
 * host. */
int ddp_is_mpiruns_daemon(pid_t pid);

/* Return the command line that resumes the run that the words of argv began, quoted for a shell, in
 * backquotes. NULL ends argv. The caller frees the result. NULL: no memory. */
char *ddp_resume_command_of(char *const *argv, ddp_resume_how how);

/* Return the command line of this process, quoted for a shell. The caller frees it. NULL: it cannot
 * be read, or there is no memory. */
char *ddp_command_line(void);

/* Return the sentence "COMMAND goes on from WHERE", which the caller frees. `command` stays the
 * caller's. NULL: command is NULL, or there is no memory. */
char *ddp_resume_advice(char *command, const char *where);

#endif
