/* launch/mpirun.h: knows how to call the mpirun of this build's MPI, and how it behaves. There are
 * three: Open MPI 4's, Open MPI 5's, and hydra, the one of MPICH and Intel MPI. The MPI library
 * says at run time which it is (comm/group.h:ddp_group_mpi_kind).
 *
 * launch/mpirun_says.h reads its messages. A rank's own settings before MPI starts are in
 * transport/mpi_init.c. What each mpirun cannot do stands in docs/hosts.md. */
#ifndef DDP_LAUNCH_MPIRUN_H
#define DDP_LAUNCH_MPIRUN_H

#include <stddef.h>

enum { DDP_MPIRUN_WORDS = 64 };

/* exit status of Open MPI 4's mpirun when its connection (ssh) to a host has broken */
enum { DDP_MPIRUN_LOST_WAY = 255 };

/* The ranks that an mpirun is to start. */
typedef struct ddp_mpirun_start {
    const char *program; /* path of the program that each rank runs */
    int ranks;           /* number of ranks to start on all hosts together */
    double grace_s;    /* -ddp_grace: seconds from SIGTERM to SIGKILL when Open MPI 4's mpirun ends
                          ranks; 0: its default */
    const char *hosts; /* "a:4,b:4" (ddp_hosts_argument); NULL: this host alone */
    const char *network;   /* for Open MPI: network between hosts, as "10.1.0.0/16" or as the name
                              of an interface (also that of -ddp_interface); NULL: not known */
    const char *interface; /* for MPICH: name of -ddp_interface's network interface; NULL: none */
    int has_domains;       /* 1: some of `hosts` are named with a domain */
    const char *const *passed_on; /* names of environment variables to set on other hosts, too, at
                                     most 6, then NULL; unused without hosts */
} ddp_mpirun_start;

/* mpirun's command line, up to the path of the program. All zero is empty. */
typedef struct ddp_mpirun_line {
    const char *words[DDP_MPIRUN_WORDS]; /* the words, `count` of them */
    size_t count;
    char ranks[16], ports[32], kill_timeout[16]; /* texts of words that are numbers */
} ddp_mpirun_line;

/* Return the path of the mpirun of this build's MPI; "" in a build without MPI. */
const char *ddp_mpirun_path(void);

/* Write the command line that makes mpirun start *start. Settings that the user has made by the
 * environment are left out. Ports are drawn at random (launch/ports.h). *line points to the strings
 * of *start and into itself, so it must not be copied. */
void ddp_mpirun_make_line(ddp_mpirun_line *line, const ddp_mpirun_start *start);

/* Set environment variables for mpirun, unless the user has set them, so that ranks exchange
 * addresses in memory, not by files.
 *   is_one_host  1: all ranks run on this host, so that Open MPI 4 need not find ssh or rsh */
void ddp_mpirun_prepare(int is_one_host);

/* Return the path of the folder where mpirun keeps its files, which take some kilobytes. NULL:
 * hydra keeps none. The path is valid until the environment changes. */
const char *ddp_mpirun_folder(void);

/* Return 1 if mpirun needs IPv4 even to reach ranks of its own host: Open MPI's. 0: hydra. */
int ddp_mpirun_wants_addresses(void);

/* Return 1 if -H must call this host `localhost`, as for Open MPI 5; else 0. */
int ddp_mpirun_wants_localhost(void);

/* Return 1 if mpirun passes SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT on to the ranks of all hosts, as
 * Open MPI's does. Return 0 for hydra, which would end at the first two. */
int ddp_mpirun_forwards_signals(void);

/* Return how many letters a host's name may have before its first digit; 0: any number. Longer
 * names make Open MPI 4's mpirun crash. */
int ddp_mpirun_name_letters(void);

/* Return the signal that makes mpirun end its ranks: SIGTERM, or SIGHUP for Open MPI 5. Open MPI
 * 5's mpirun kills ranks half a second after SIGTERM or SIGINT, so it must get neither. */
int ddp_mpirun_end_signal(void);

/* Return how many seconds a rank that has lost a connection should wait before it ends: 0.1 under
 * Open MPI 5, else 1.5. Meanwhile the rank that failed can tell its error. mpirun kills all ranks
 * 0.5 s (Open MPI 5) or 2 s after the first has ended. */
double ddp_mpirun_lost_s(void);

/* Return 1 if the mpirun that started this rank passes on whole lines only: Open MPI 5's without
 * `--output :raw`. With Open MPI 5, hosts other than mpirun's cannot know the option: 1. */
int ddp_mpirun_holds_lines(void);

/* Return the name of Debian's package that has this MPI's mpirun. */
const char *ddp_mpirun_package(void);

/* Return the value of srun's --mpi= that this MPI needs: "pmix" or "pmi2". */
const char *ddp_mpirun_srun_mpi(void);

/* Return the command by which Open MPI reaches other hosts, if the environment names one; NULL:
 * Open MPI takes ssh or rsh. */
const char *ddp_mpirun_agent(void);

/* Return the name by which a user started an mpirun. program: the first word of its present command
 * line, which is prterun for Open MPI 5's mpirun. Returns `program` if that is the name. Call in a
 * rank; never free the result. */
char *ddp_mpirun_typed_name(char *program);

#endif
