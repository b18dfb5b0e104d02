/* launch/mpirun_names.h: tells by its name whether a program is an mpirun, or Open MPI's daemon. */
#ifndef DDP_LAUNCH_MPIRUN_NAMES_H
#define DDP_LAUNCH_MPIRUN_NAMES_H

/* Return 1 if `program`, a name or path, is an mpirun: mpirun, mpiexec, orterun or prterun, each
 * also with an ending such as .mpich. */
int ddp_mpirun_is_name(const char *program);
/* Return 1 if `program`, a name or path, is the daemon that Open MPI's mpirun starts on another
 * host. */
int ddp_mpirun_is_daemon_name(const char *program);

#endif
