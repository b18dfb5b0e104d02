/* launch/resume_command.h: the command line that goes on with a run. */
#ifndef DDP_LAUNCH_RESUME_COMMAND_H
#define DDP_LAUNCH_RESUME_COMMAND_H

#include <sys/types.h>

typedef struct ddp_resume_how {
    const char *option; /* "-resume", or another that has it in front */
    int epochs;         /* in place of what -epochs says; 0: as it is */
    int patience;       /* the same of -patience */
} ddp_resume_how;

/* The line that started this run, quoted for a shell, with how.option in it, and without -clear and
 * -ddp_take_over, which are for a beginning: that of the mpirun, or of the darknet that started
 * mpirun, where this rank is below one on the same host; else that of this process. "the same
 * command line with -resume" where it is not known (srun). From the caller's malloc; NULL without
 * memory. */
char *ddp_resume_command(int launched, ddp_resume_how how);

/* What trains a finished run further, "with a larger max_batches= in CFG `COMMAND`", or where it
 * was to make epochs `COMMAND` with this many (else 0). In the same kind of memory. */
char *ddp_command_to_train_further(int launched, int epochs, const char *cfg);

/* Is this process an mpirun, or what mpirun has on another host to start its ranks there, by its
 * name? */
int ddp_is_mpirun(pid_t pid);
int ddp_is_mpiruns_daemon(pid_t pid);

/* argv in the same form, of the process that is still to start its ranks. */
char *ddp_resume_command_of(char *const *argv, ddp_resume_how how);

/* The line of this process alone, as it is. In the same kind of memory. */
char *ddp_command_line(void);

/* "COMMAND goes on from WHERE", in the same kind of memory. */
char *ddp_resume_advice(char *command, const char *where);

#endif
