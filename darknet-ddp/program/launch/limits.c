#include "launch/limits.h"

#include "launch/mpirun.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- limits of a process ---- */

/* A limit that children inherit, and what mpirun and each rank of this host need of it. */
struct limit {
    int which;
    rlim_t base, a_rank, unit; /* base and a_rank in units of so many bytes or pieces */
    const char *what, *option; /* of one unit; ulimit's */
};

/* Files: Open MPI 4.1's mpirun took 26 with one rank of this program, 36 with two, 48 with four;
 * 5.0's 28 with one and 40 with four. Size: each rank makes a file of 4 MB in /dev/shm. Addresses:
 * a rank of a tiny network, on 2 cores, took 450 MB, of which 64 MB are one thread's; with 350 MB
 * it ended in a crash or for want of a thread. With 70 MB of data or 200 KB of stack it, or mpirun,
 * ended in a crash. */
static const struct limit limits[] = {
    {RLIMIT_NOFILE, 32, 8, 1, "open files", "n"},
    {RLIMIT_FSIZE, 4608, 0, 1024, "KB a file", "f"},
    {RLIMIT_AS, 448 << 10, 0, 1024, "KB of addresses", "v"},
    {RLIMIT_DATA, 96 << 10, 0, 1024, "KB of data", "d"},
    {RLIMIT_STACK, 512, 0, 1024, "KB of stack", "s"},
};

/* LOW: a limit that is less than so many times what a tiny network needs may be too low for others.
 */
enum { LIMITS = sizeof limits / sizeof limits[0], LOW = 16 };

/* Raise a limit to what is needed, if it is lower. */
static ddp_status check_limit(const struct limit *l, int ranks, ddp_error *err)
{
    rlim_t units = l->base + l->a_rank * (rlim_t)ranks, need = units * l->unit;
    struct rlimit limit;
    char enough[24] = "unlimited";

    if (getrlimit((unsigned)l->which, &limit) || limit.rlim_cur >= need)
        return DDP_OK;
    limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
    if (limit.rlim_cur >= need && setrlimit((unsigned)l->which, &limit) == 0)
        return DDP_OK;
    if (l->unit == 1) /* files cannot be unlimited */
        (void)snprintf(enough, sizeof enough, "%lu", (unsigned long)units);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "a process may have %lu %s here, and with %d ranks needs about %lu: `ulimit "
                    "-%s %s` raises that, or an administrator does",
                    (unsigned long)(limit.rlim_cur / l->unit), l->what, ranks, (unsigned long)units,
                    l->option, enough);
}

void ddp_limits_say_low(void)
{
    struct rlimit limit;

    for (size_t i = 0; i < LIMITS; i++)
        if (getrlimit((unsigned)limits[i].which, &limit) == 0
            && limit.rlim_cur < LOW * limits[i].base * limits[i].unit)
            (void)fprintf(stderr, "darknet: a process may have %lu %s here (ulimit -%s)\n",
                          (unsigned long)(limit.rlim_cur / limits[i].unit), limits[i].what,
                          limits[i].option);
}

/* ---- where mpirun keeps its files ---- */

/* Make a folder with a file of so many bytes in it, and remove both. Returns 0, or errno. */
static int try_folder(const char *folder, off_t bytes)
{
    char path[PATH_MAX], file[PATH_MAX + 8];
    int fd, why;

    (void)mkdir(folder, 0700); /* as mpirun does */
    (void)snprintf(path, sizeof path, "%s/darknet-ddp-XXXXXX", folder);
    if (!mkdtemp(path))
        return errno;
    (void)snprintf(file, sizeof file, "%s/room", path);
    fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    why = fd < 0 ? errno : posix_fallocate(fd, 0, bytes);
    if (fd >= 0)
        (void)close(fd);
    (void)unlink(file);
    (void)rmdir(path);
    return why;
}

static ddp_status check_folder(int ranks, ddp_error *err)
{
    enum { KB = 1024, BASE_KB = 128, A_RANK_KB = 4 };
    const char *folder = ddp_mpirun_folder();
    int need_kb = BASE_KB + A_RANK_KB * ranks;
    int why = folder ? try_folder(folder, (off_t)need_kb * KB) : 0;

    if (why == 0)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_IO,
                    "mpirun needs a folder with %d KB for its files, and %s is none: %s; "
                    "TMPDIR=FOLDER in the environment names another",
                    need_kb, folder, strerror(why));
}

/* ---- the network ---- */

/* mpirun and ranks speak over IPv4. The kernel has a way to an address of this host only while the
 * loopback interface is up, and Open MPI 5 starts only if that interface has an address. */
static ddp_status check_loopback(ddp_error *err)
{
    struct ifaddrs *all;
    int is_up = 0, has_address = 0;

    if (!ddp_mpirun_wants_addresses() || getifaddrs(&all))
        return DDP_OK;
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        if (!(a->ifa_flags & IFF_LOOPBACK))
            continue;
        is_up |= (a->ifa_flags & IFF_UP) != 0;
        has_address |= a->ifa_addr && a->ifa_addr->sa_family == AF_INET;
    }
    freeifaddrs(all);
    if (is_up && has_address)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_IO,
                    "mpirun speaks with its ranks over IPv4, and the loopback interface %s here: "
                    "as root, `%s`",
                    is_up ? "has no address of that" : "is down",
                    is_up ? "ip addr add 127.0.0.1/8 dev lo" : "ip link set lo up");
}

/* ---- names of hosts ---- */

/* With its domain, or as far as the first dot. */
static ddp_status check_name(const char *name, int whole, ddp_error *err)
{
    size_t letters = strcspn(name, whole ? "0123456789" : ".0123456789");
    int most = ddp_mpirun_name_letters();

    if (most == 0 || letters <= (size_t)most)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "the host name %s has %zu letters before a digit, and Open MPI's mpirun dies "
                    "of more than %d: another name (`hostname NAME`), or ranks without mpirun "
                    "(-ddp_rendezvous PATH, srun)",
                    name, letters, most);
}

static ddp_status check_names(const ddp_hosts *hosts, ddp_error *err)
{
    int whole = ddp_hosts_have_domains(hosts);
    char own[256] = "";

    (void)gethostname(own, sizeof own - 1);
    for (size_t i = 0; i < hosts->count; i++)
        if (check_name(hosts->list[i].name, whole, err))
            return err->code;
    return check_name(own, whole, err);
}

ddp_status ddp_limits_check(int ranks, const ddp_hosts *hosts, ddp_error *err)
{
    for (size_t i = 0; i < LIMITS; i++)
        if (check_limit(&limits[i], ranks, err))
            return err->code;
    if (check_names(hosts, err) || check_loopback(err) || check_folder(ranks, err))
        return err->code;
    return DDP_OK;
}
