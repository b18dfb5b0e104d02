#include "launch/limits.h"

#include "launch/mpirun.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Open MPI 4.1's mpirun took 26 with one rank of this program, 36 with two, 48 with four; 5.0's 28
 * with one and 40 with four. */
enum { FILES = 32, FILES_A_RANK = 8 };

ddp_status ddp_limits_check_files(int ranks, ddp_error *err)
{
    rlim_t need = FILES + FILES_A_RANK * (rlim_t)ranks;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
        return DDP_OK;
    limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
    if (limit.rlim_cur >= need && setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "a process may open %lu files here, and mpirun needs about %lu for %d ranks: "
                    "`ulimit -n %lu` raises that, or an administrator does",
                    (unsigned long)limit.rlim_cur, (unsigned long)need, ranks, (unsigned long)need);
}

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

ddp_status ddp_limits_check_names(const ddp_hosts *hosts, ddp_error *err)
{
    int whole = ddp_hosts_have_domains(hosts);
    char own[256] = "";

    (void)gethostname(own, sizeof own - 1);
    for (size_t i = 0; i < hosts->count; i++)
        if (check_name(hosts->list[i].name, whole, err))
            return err->code;
    return check_name(own, whole, err);
}
