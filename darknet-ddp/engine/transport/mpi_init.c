#include "transport/mpi_init.h"

#include "base/clock.h"
#include "base/port_range.h"
#include "comm/backend.h"
#include "comm/chunk_pipeline.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

ddp_status ddp_mpi_check(int rc, const char *what, ddp_error *err)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    if (rc == MPI_SUCCESS)
        return DDP_OK;
    if (MPI_Error_string(rc, text, &length) != MPI_SUCCESS)
        return ddp_fail(err, DDP_ERR_COMM, "%s: MPI error %d", what, rc);
    return ddp_fail(err, DDP_ERR_COMM, "%s: %.*s", what, length, text);
}

/* ---- which MPI ---- */

ddp_mpi_kind ddp_mpi_kind_of_library(void)
{
    static const char open_mpi[] = "Open MPI v";
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", *version;
    int length;

    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return DDP_MPI_HYDRA;
    version = strstr(text, open_mpi);
    if (!version)
        return DDP_MPI_HYDRA;
    return strtol(version + strlen(open_mpi), NULL, 10) < 5 ? DDP_MPI_OPEN_4 : DDP_MPI_OPEN_5;
}

/* Return 1 if Open MPI calls its transport in the memory of a host "vader" (up to 4), 0 if "sm". */
static int is_vader(void)
{
    return ddp_mpi_kind_of_library() == DDP_MPI_OPEN_4;
}

/* ---- the start ---- */

/* Return 1 if Open MPI's launcher has put all ranks on one host; 0: on several, or not known. Asks
 * the environment, since MPI does not run yet. */
static int is_one_host(void)
{
    const char *all = getenv("OMPI_COMM_WORLD_SIZE"), *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");

    return all && here && strcmp(all, here) == 0;
}

/* Open MPI's settings, for those that the user has not set. btl_tcp_eager_limit: over TCP, messages
 * up to this size are sent at once, longer ones only when the receiver has answered. Two ranks that
 * compute answer when they next poll, and behind the data that they send themselves: over 1 Gbit/s,
 * 102 MB take 0.98 s at the default of 64 KiB and 0.85 s (the link's rate) so. A sum's receives are
 * posted early, and the window bounds what can arrive before them. btl: ranks of one host need no
 * port. btl_sm_segment_size: Open MPI 5 would take 16 MiB of /dev/shm for each rank, of which many
 * containers have 64 MiB; vader takes 4 MiB. */
static void tune_open_mpi(void)
{
    enum { HEADER_BYTES = 1024 };
    char limit[16];

    (void)snprintf(limit, sizeof limit, "%d", DDP_CHUNK_MESSAGE_BYTES + HEADER_BYTES);
    (void)setenv("OMPI_MCA_btl_tcp_eager_limit", limit, 0);
    (void)setenv("OMPI_MCA_btl_sm_segment_size", "4194304", 0);
    if (is_one_host())
        (void)setenv("OMPI_MCA_btl", is_vader() ? "self,vader" : "self,sm", 0);
    if (ddp_group_interface())
        (void)setenv("OMPI_MCA_btl_tcp_if_include", ddp_group_interface(), 0);
}

/* Ranks of one host meet in files there, and MPI's own sentence of it comes with 40 lines about
 * unreachable processes. */
static ddp_status check_shared_memory(ddp_error *err)
{
    static const char folder[] = "/dev/shm";
    const char *place =
        is_vader() ? "OMPI_MCA_btl_vader_backing_directory" : "OMPI_MCA_btl_sm_backing_directory";
    const uint64_t bytes_a_rank = 4 << 20; /* 4,194,312 bytes are asked for */
    const char *ranks = getenv("OMPI_COMM_WORLD_LOCAL_SIZE"), *btl = getenv("OMPI_MCA_btl");
    uint64_t need = (ranks ? strtoul(ranks, NULL, 10) : 0) * bytes_a_rank, has;
    struct statvfs space;

    if (!is_one_host() || need <= bytes_a_rank
        || (btl && !strstr(btl, "vader") && !strstr(btl, "sm")) || getenv(place)
        || statvfs(folder, &space))
        return DDP_OK;
    has = (uint64_t)space.f_blocks * space.f_frsize; /* ranks that came before have taken theirs */
    if (has >= need)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_IO,
                    "%s has %llu KB, and MPI needs %llu KB there for %s ranks: make it larger "
                    "(docker run --shm-size=64m), or %s=/tmp in the environment",
                    folder, (unsigned long long)(has >> 10), (unsigned long long)(need >> 10),
                    ranks, place);
}

ddp_status ddp_mpi_start(int *started, ddp_error *err)
{
    int running = 0, level;

    *started = 0;
    if (ddp_mpi_check(MPI_Initialized(&running), "MPI_Initialized", err))
        return err->code;
    if (running)
        return DDP_OK;
    tune_open_mpi();
    if (check_shared_memory(err))
        return err->code;
    /* One thread uses the group; the others never call MPI. */
    if (ddp_mpi_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread",
                      err))
        return err->code;
    *started = 1;
    return DDP_OK;
}

/* ---- the first message ---- */

/* Everybody is past MPI's start: what takes longer does not come. */
static const int64_t greeting_ns = 20 * INT64_C(1000000000);

/* Where the launcher passes names on, beside the network that does not work. */
static void publish_host(int rank)
{
    char service[64], name[DDP_HOST_BYTES];

    (void)snprintf(service, sizeof service, "darknet-ddp-host-%d", rank);
    ddp_host_name(name);
    (void)MPI_Publish_name(service, MPI_INFO_NULL, name);
}

/* " (host b)", or nothing where it is not known. */
static void look_up_host(int rank, char *text, size_t size)
{
    char service[64], name[MPI_MAX_PORT_NAME] = "";

    text[0] = '\0';
    (void)snprintf(service, sizeof service, "darknet-ddp-host-%d", rank);
    if (MPI_Lookup_name(service, MPI_INFO_NULL, name) == MPI_SUCCESS && name[0])
        (void)snprintf(text, size, " (host %s)", name);
}

static void name_ports(char *text, size_t size)
{
    const ddp_port_range range = ddp_port_range_of_ranks();

    if (range.count > 0)
        (void)snprintf(text, size, "TCP ports %d to %d, which must be open", range.first,
                       range.first + range.count - 1);
    else
        (void)snprintf(text, size,
                       "TCP ports 1024 to 65535, which must be open (--mca btl_tcp_port_min_v4 "
                       "46000 --mca btl_tcp_port_range_v4 200 makes them 46000 to 46199)");
}

static ddp_status not_greeted(int rank, int from, ddp_error *err)
{
    char host[DDP_HOST_BYTES + 16], ports[192];

    publish_host(rank);
    (void)sleep(1); /* the other end does the same */
    look_up_host(from, host, sizeof host);
    name_ports(ports, sizeof ports);
    return ddp_fail(err, DDP_ERR_COMM,
                    "no first message from rank %d%s for %lld s: between hosts MPI uses %s, on the "
                    "network that these ranks share",
                    from, host, (long long)(greeting_ns / 1000000000), ports);
}

/* The lowest rank whose greeting has not come; -1: all have. */
static ddp_status wait_for_greetings(MPI_Request *requests, int size, int *missing, ddp_error *err)
{
    const struct timespec nap = {0, 1000000};
    int64_t began = ddp_clock_ns();

    do {
        *missing = -1;
        for (int r = 0; r < 2 * size; r++) {
            int done;

            if (ddp_mpi_check(MPI_Test(&requests[r], &done, MPI_STATUS_IGNORE), "MPI_Test", err))
                return err->code;
            if (!done && *missing < 0)
                *missing = r % size;
        }
        if (*missing >= 0)
            (void)nanosleep(&nap, NULL);
    } while (*missing >= 0 && ddp_clock_ns() - began < greeting_ns);
    return DDP_OK;
}

/* A network that drops messages would have the first collective wait for ever. */
ddp_status ddp_mpi_greet_ranks(ddp_error *err)
{
    static char byte;
    int rank, size, missing = -1;
    MPI_Request *requests;
    char *room;
    ddp_status st = DDP_OK;

    if (ddp_mpi_check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank", err)
        || ddp_mpi_check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size", err))
        return err->code;
    requests = calloc((size_t)size * 2, sizeof(MPI_Request));
    room = calloc((size_t)size, 1); /* of requests that may never end: never freed then */
    if (!requests || !room)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory to greet %d ranks", size);
    for (int r = 0; r < size && !st; r++) {
        requests[r] = requests[size + r] = MPI_REQUEST_NULL;
        if (r != rank)
            st = ddp_mpi_check(MPI_Irecv(&room[r], 1, MPI_CHAR, r, 0, MPI_COMM_WORLD, &requests[r]),
                               "MPI_Irecv", err);
        if (r != rank && !st)
            st = ddp_mpi_check(
                MPI_Isend(&byte, 1, MPI_CHAR, r, 0, MPI_COMM_WORLD, &requests[size + r]),
                "MPI_Isend", err);
    }
    if (!st)
        st = wait_for_greetings(requests, size, &missing, err);
    if (!st && missing >= 0)
        return not_greeted(rank, missing, err);
    free(requests);
    free(room);
    return st;
}
