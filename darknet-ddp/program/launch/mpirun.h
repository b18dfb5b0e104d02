/* launch/mpirun.h: the mpirun that starts the ranks: Open MPI 4's, Open MPI 5's, or hydra, which is
 * that of MPICH and Intel MPI.
 *
 * All that this program sets or reads of an mpirun, of its parts on other hosts and of what they
 * print stands in launch/mpirun.c and launch/mpirun_says.c. A rank's own settings before MPI starts
 * are in transport/mpi_init.c. Which of the three it is, the MPI library says at run
 * time (comm/group.h:ddp_group_mpi_kind). docs/hosts.md has what one of them cannot do.
 */
#ifndef DDP_LAUNCH_MPIRUN_H
#define DDP_LAUNCH_MPIRUN_H

#include <stddef.h>

enum { DDP_MPIRUN_WORDS = 64 };

/* The exit status of Open MPI 4's mpirun after its way to a host (ssh) has broken off. */
enum { DDP_MPIRUN_LOST_WAY = 255 };

/* The ranks that one start makes, and what they get. Strings stay the caller's. */
typedef struct ddp_mpirun_start {
    const char *program; /* path of what each rank runs */
    int ranks;           /* on all hosts together */
    double grace_s;      /* from SIGTERM to SIGKILL, where mpirun ends ranks; 0: mpirun's own */
    const char *hosts;   /* "a:4,b:4" (ddp_hosts_argument); NULL: this host alone */
    const char
        *network; /* between hosts: an interface or "10.1.0.0/16"; NULL: none, or not known */
    const char *interface; /* that -ddp_interface names; NULL: none */
    int has_domains;       /* a host is named with its domain */
    const char *const
        *passed_on; /* names of variables that other hosts' ranks get, too; NULL ends */
} ddp_mpirun_start;

/* The first words of a command line of mpirun, up to and with the program. All zero is empty. */
typedef struct ddp_mpirun_line {
    const char *words[DDP_MPIRUN_WORDS]; /* they belong to the line and to its start */
    size_t count;
    char ranks[16], ports[32], kill_timeout[16];
} ddp_mpirun_line;

/* The path of the mpirun that the build found beside its MPI: another in PATH may be of another
 * MPI. Empty in a build without MPI. */
const char *ddp_mpirun_path(void);

/* Fill *line for a start. Parameters that the environment sets are left to it. Ports are drawn
 * anew for each call (launch/ports.h). The line is valid as long as *start's strings are. */
void ddp_mpirun_make_line(ddp_mpirun_line *line, const ddp_mpirun_start *start);

/* Set what an mpirun that starts ranks on this host alone wants in its environment. */
void ddp_mpirun_prepare_one_host(void);

/* Return 1 if mpirun starts ranks on this host only where it is called localhost, and not by an
 * address: Open MPI 5. */
int ddp_mpirun_wants_localhost(void);

/* Return 1 if mpirun passes SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT on to the ranks of all hosts:
 * Open MPI. Hydra ends at the first two. */
int ddp_mpirun_forwards_signals(void);

/* Return the most letters that a host name may have before its first digit; 0: any number. Open MPI
 * 4's mpirun writes beyond an array for longer ones. */
int ddp_mpirun_name_letters(void);

/* Return the signal by which an mpirun is told to end its ranks. It is SIGHUP for Open MPI 5, which
 * leaves ranks half a second at each such signal, whatever -ddp_grace says. SIGTERM and SIGINT are
 * then kept from it (launch/child.h): others may send them to all processes of a job. */
int ddp_mpirun_end_signal(void);

/* In a rank: return for how many seconds a rank whose connection is gone may still tell its own
 * error. Open MPI 5's mpirun kills all ranks half a second after the first has ended, others 2 s.
 */
double ddp_mpirun_lost_s(void);

/* In a rank: return 1 if the mpirun above it passes on whole lines alone, so that no line can renew
 * itself: Open MPI 5's without `--output :raw`. */
int ddp_mpirun_holds_lines(void);

/* Debian's package that has this MPI's mpirun. */
const char *ddp_mpirun_package(void);

/* Return the word for srun's --mpi= that this MPI needs: "pmix" or "pmi2". */
const char *ddp_mpirun_srun_mpi(void);

/* The program, with options, by which Open MPI reaches other hosts, if the environment names one;
 * else NULL: ssh or rsh. */
const char *ddp_mpirun_agent(void);

/* Return 1 if a program of this name or path is an mpirun, or for the second, what an mpirun runs
 * on another host to start ranks there. */
int ddp_mpirun_is_name(const char *program);
int ddp_mpirun_is_daemon_name(const char *program);

/* In a rank: return the name by which the mpirun that runs as `program` was started. Open MPI 5's
 * mpirun becomes a prterun, which itself is none of Open MPI's. */
char *ddp_mpirun_typed_name(char *program);

#endif
