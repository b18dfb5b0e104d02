/* launch/mpirun.h: the mpirun that starts the ranks: Open MPI 4's, Open MPI 5's, or hydra, which is
 * that of MPICH and Intel MPI.
 *
 * All that this program sets or reads of an mpirun, of its parts on other hosts and of what they
 * print stands in launch/mpirun.c and launch/mpirun_says.c. A rank's own settings before MPI starts
 * are in transport/mpi_init.c. Which of the three it is, the MPI library says at run
 * time (comm/group.h:ddp_group_mpi_kind). docs/hosts.md has what one of them cannot do. */
#ifndef DDP_LAUNCH_MPIRUN_H
#define DDP_LAUNCH_MPIRUN_H

#include <stddef.h>

enum { DDP_MPIRUN_WORDS = 64 };

/* exit status of Open MPI 4's mpirun when its connection (ssh) to a host has broken */
enum { DDP_MPIRUN_LOST_WAY = 255 };

/* The ranks of one start of mpirun, and their settings. Strings stay the caller's. */
typedef struct ddp_mpirun_start {
    const char *program; /* path of the program that each rank runs */
    int ranks;           /* how many ranks to start on all hosts together */
    double grace_s;      /* Open MPI 4: seconds from SIGTERM to SIGKILL when mpirun ends ranks; 0:
                            mpirun's default */
    const char *hosts;   /* "a:4,b:4" (ddp_hosts_argument); NULL: this host alone */
    const char *network; /* network between hosts: an interface or "10.1.0.0/16"; NULL: not known */
    const char *interface;        /* interface that -ddp_interface names; NULL: none */
    int has_domains;              /* 1: a host is named with its domain */
    const char *const *passed_on; /* names of variables that ranks on other hosts get, NULL at the
                                     end; unused without hosts */
} ddp_mpirun_start;

/* The first words of mpirun's command line, up to the program and with it. All zero is empty. */
typedef struct ddp_mpirun_line {
    const char *words[DDP_MPIRUN_WORDS]; /* the words; they point into this struct and into the
                                            ddp_mpirun_start */
    size_t count;
    char ranks[16], ports[32], kill_timeout[16];
} ddp_mpirun_line;

/* Return the path of the mpirun that the build found beside its MPI; "" in a build without MPI.
 * Another mpirun in PATH may be of another MPI. */
const char *ddp_mpirun_path(void);

/* Fill *line for a start. A parameter of mpirun that the environment sets is left out. Each call
 * draws ports anew (launch/ports.h). The line is valid as long as *start's strings, and must stay
 * where it is. */
void ddp_mpirun_make_line(ddp_mpirun_line *line, const ddp_mpirun_start *start);

/* Set an mpirun's variables in the environment, unless they are set already, so that what ranks
 * tell each other at the start stays in memory. With is_one_host 1 all ranks are on this host. If
 * PATH then has neither ssh nor rsh, Open MPI 4 is told not to look for them. */
void ddp_mpirun_prepare(int is_one_host);

/* Return the folder in which mpirun keeps its files, some kilobytes, by the environment; NULL:
 * mpirun has none. The string is static, or the environment's. */
const char *ddp_mpirun_folder(void);

/* Return 1 if mpirun speaks over IPv4 even with ranks of its own host: Open MPI. Else 0: hydra. */
int ddp_mpirun_wants_addresses(void);

/* Return 1 if -H must name this host `localhost`, not by its name or address: Open MPI 5. */
int ddp_mpirun_wants_localhost(void);

/* Return 1 if mpirun passes SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT on to the ranks of all hosts:
 * Open MPI. Hydra ends at the first two. */
int ddp_mpirun_forwards_signals(void);

/* Return the most letters that a host name may have before its first digit; 0: any number. Open MPI
 * 4's mpirun writes beyond an array for longer ones. */
int ddp_mpirun_name_letters(void);

/* Return the signal at which mpirun ends its ranks: SIGTERM, or SIGHUP for Open MPI 5. Open MPI 5's
 * mpirun leaves ranks half a second after any such signal, whatever -ddp_grace says. So SIGTERM and
 * SIGINT, which others may send to all processes of a job, are kept from it (launch/child.h). */
int ddp_mpirun_end_signal(void);

/* Return for how many seconds a rank whose connection is gone may still tell its own error. Open
 * MPI 5's mpirun kills all ranks half a second after the first has ended, other mpiruns 2 s after.
 * Call in a rank. */
double ddp_mpirun_lost_s(void);

/* Return 1 if the mpirun that started this rank passes on whole lines alone (Open MPI 5's without
 * `--output :raw`). A line cannot renew itself there. */
int ddp_mpirun_holds_lines(void);

/* Return the name of Debian's package that has this MPI's mpirun. */
const char *ddp_mpirun_package(void);

/* Return the word for srun's --mpi= that this MPI needs: "pmix" or "pmi2". */
const char *ddp_mpirun_srun_mpi(void);

/* Return the program, with options, by which Open MPI reaches other hosts, if the environment names
 * one; else NULL (it then takes ssh or rsh). */
const char *ddp_mpirun_agent(void);

/* Return 1 if `program`, a name or path, is an mpirun. */
int ddp_mpirun_is_name(const char *program);
/* Return 1 if `program`, a name or path, is the daemon that an mpirun starts on another host. */
int ddp_mpirun_is_daemon_name(const char *program);

/* Return the name by which the mpirun that runs as `program` was started. Open MPI 5's mpirun
 * becomes a prterun, which nobody can start in its place. Call in a rank; never free the result. */
char *ddp_mpirun_typed_name(char *program);

#endif
