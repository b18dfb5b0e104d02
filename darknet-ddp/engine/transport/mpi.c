/* The backend mpi: ranks that mpirun or srun started. All calls to MPI are in this file and in
 * mpi_init.c.
 *
 * MPI may move data only inside its calls. Sums and collectives call MPI_Isend, MPI_Irecv and
 * MPI_Testsome, which do not block: so a lost peer ends in an error or a timeout that names it.
 * Opening the backend or its channels, and closing it, may block. */
#include "comm/chunk_pipeline.h"
#include "comm/group_schedule.h"
#include "transport/backends.h"
#include "transport/mpi_init.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mpi_group {
    MPI_Comm comm;                       /* channel 0 */
    MPI_Comm more[DDP_CHANNELS_MAX - 1]; /* the others; MPI_COMM_NULL behind the last */
    int must_finalize;
    int requests_count;
    MPI_Request *requests;
    MPI_Status *statuses;
    struct ddp_message *messages; /* what each request is about */
};

static struct mpi_group *mpi_of(const ddp_group *g)
{
    return g->own;
}

static ddp_status mpi_reserve(ddp_group *g, int requests, ddp_error *err)
{
    struct mpi_group *m = mpi_of(g);
    size_t n = (size_t)requests + 1; /* a group of one rank needs none */
    MPI_Request *handles = realloc(m->requests, n * sizeof(MPI_Request));
    MPI_Status *statuses = realloc(m->statuses, n * sizeof *statuses);
    struct ddp_message *messages = realloc(m->messages, n * sizeof *messages);

    m->requests = handles ? handles : m->requests;
    m->statuses = statuses ? statuses : m->statuses;
    m->messages = messages ? messages : m->messages;
    if (!handles || !statuses || !messages)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d requests", requests);
    for (int i = m->requests_count; i < requests; i++)
        m->requests[i] = MPI_REQUEST_NULL;
    m->requests_count = requests;
    return DDP_OK;
}

static MPI_Comm channel_of(const struct mpi_group *mpi, const struct ddp_message *m)
{
    return m->channel ? mpi->more[m->channel - 1] : mpi->comm;
}

static ddp_status mpi_send(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err)
{
    struct mpi_group *mpi = mpi_of(g);

    mpi->messages[request] = *m;
    mpi->messages[request].bytes = SIZE_MAX; /* nothing to compare at the end */
    return ddp_mpi_check(MPI_Isend(m->buf, (int)m->bytes, MPI_BYTE, m->peer, m->tag,
                                   channel_of(mpi, m), &mpi->requests[request]),
                         "MPI_Isend", err);
}

static ddp_status mpi_recv(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err)
{
    struct mpi_group *mpi = mpi_of(g);

    mpi->messages[request] = *m;
    return ddp_mpi_check(MPI_Irecv(m->buf, (int)m->bytes, MPI_BYTE, m->peer, m->tag,
                                   channel_of(mpi, m), &mpi->requests[request]),
                         "MPI_Irecv", err);
}

/* MPI takes a short message for a long one without a word. */
static ddp_status check_length(const struct ddp_message *m, const MPI_Status *status,
                               ddp_error *err)
{
    int bytes;

    if (m->bytes == SIZE_MAX)
        return DDP_OK;
    if (MPI_Get_count(status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0
        || (size_t)bytes != m->bytes)
        return ddp_fail(err, DDP_ERR_COMM, "rank %d sent %d bytes where %zu are due", m->peer,
                        bytes, m->bytes);
    return DDP_OK;
}

static ddp_status check_statuses(const ddp_group *g, const int *ended, int count, ddp_error *err)
{
    const struct mpi_group *m = mpi_of(g);

    for (int i = 0; i < count; i++) {
        char what[DDP_HOST_BYTES + 64];
        int peer = m->messages[ended[i]].peer;

        (void)snprintf(what, sizeof what, "message of rank %d (host %s)", peer, g->hosts[peer]);
        if (m->statuses[i].MPI_ERROR != MPI_ERR_PENDING
            && ddp_mpi_check(m->statuses[i].MPI_ERROR, what, err))
            return err->code;
    }
    return ddp_fail(err, DDP_ERR_COMM, "MPI_Testsome failed");
}

static ddp_status mpi_test(ddp_group *g, int *ended, int *count, ddp_error *err)
{
    struct mpi_group *m = mpi_of(g);
    int rc = MPI_Testsome(m->requests_count, m->requests, count, ended, m->statuses);

    if (rc == MPI_ERR_IN_STATUS)
        return check_statuses(g, ended, *count, err);
    if (ddp_mpi_check(rc, "MPI_Testsome", err))
        return err->code;
    if (*count == MPI_UNDEFINED)
        *count = 0; /* no request is active */
    for (int i = 0; i < *count; i++)
        if (check_length(&m->messages[ended[i]], &m->statuses[i], err))
            return err->code;
    return DDP_OK;
}

/* Ranks, and what becomes of errors, are those of the first. */
static ddp_status mpi_use_channels(ddp_group *g, int channels, ddp_error *err)
{
    struct mpi_group *m = mpi_of(g);

    for (int c = 0; c < channels - 1; c++)
        if (ddp_mpi_check(MPI_Comm_dup(m->comm, &m->more[c]), "MPI_Comm_dup", err))
            return err->code;
    return DDP_OK;
}

static const struct ddp_transport transport = {
    .reserve = mpi_reserve,
    .send = mpi_send,
    .recv = mpi_recv,
    .test = mpi_test,
    .use_channels = mpi_use_channels,
};

static int in_flight(const struct mpi_group *m)
{
    for (int i = 0; i < m->requests_count; i++)
        if (m->requests[i] != MPI_REQUEST_NULL)
            return 1;
    return 0;
}

static void mpi_close(ddp_group *g)
{
    struct mpi_group *m = mpi_of(g);

    /* MPI_Comm_free and MPI_Finalize wait for the peers. Where one is lost, or
     * MPI still holds our memory, they are left out: the process then ends
     * without them, and the launcher ends the job. */
    if (!g->failure.code && !in_flight(m)) {
        for (int c = 0; c < DDP_CHANNELS_MAX - 1; c++)
            if (m->more[c] != MPI_COMM_NULL)
                (void)MPI_Comm_free(&m->more[c]);
        if (m->comm != MPI_COMM_NULL)
            (void)MPI_Comm_free(&m->comm);
        if (m->must_finalize)
            (void)MPI_Finalize();
    }
    ddp_chunk_pipeline_close(g);
    free(m->requests);
    free(m->statuses);
    free(m->messages);
    free(m);
    ddp_group_clear(g);
}

/* The lowest rank of comm that is on this host. */
static ddp_status first_of_host(MPI_Comm comm, int *first, ddp_error *err)
{
    MPI_Comm host;

    if (ddp_mpi_check(MPI_Comm_rank(comm, first), "MPI_Comm_rank", err)
        || ddp_mpi_check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                         "MPI_Comm_split_type", err)
        || ddp_mpi_check(MPI_Bcast(first, 1, MPI_INT, 0, host), "MPI_Bcast", err)
        || ddp_mpi_check(MPI_Comm_free(&host), "MPI_Comm_free", err))
        return err->code;
    return DDP_OK;
}

/* Our own communicator: our messages cannot meet the application's. Its ranks are numbered host by
 * host, wherever the launcher has put them, and those of a host as the launcher has. */
static ddp_status own_communicator(MPI_Comm *comm, int *rank, int *size, ddp_error *err)
{
    int first;

    /* MPI orders ranks with equal keys by their old numbers. */
    if (first_of_host(MPI_COMM_WORLD, &first, err)
        || ddp_mpi_check(MPI_Comm_split(MPI_COMM_WORLD, 0, first, comm), "MPI_Comm_split", err)
        || ddp_mpi_check(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN),
                         "MPI_Comm_set_errhandler", err)
        || ddp_mpi_check(MPI_Comm_rank(*comm, rank), "MPI_Comm_rank", err)
        || ddp_mpi_check(MPI_Comm_size(*comm, size), "MPI_Comm_size", err))
        return err->code;
    return DDP_OK;
}

static ddp_status find_places(ddp_group *g, ddp_error *err)
{
    MPI_Comm comm = mpi_of(g)->comm;
    int *firsts = calloc((size_t)g->size, sizeof *firsts), first = 0;
    char name[DDP_HOST_BYTES];
    ddp_status st;

    if (!firsts)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d ranks' places", g->size);
    ddp_host_name(name);
    st = ddp_mpi_check(
        MPI_Allgather(name, DDP_HOST_BYTES, MPI_CHAR, g->hosts, DDP_HOST_BYTES, MPI_CHAR, comm),
        "MPI_Allgather", err);
    if (!st)
        st = first_of_host(comm, &first, err);
    if (!st)
        st = ddp_mpi_check(MPI_Allgather(&first, 1, MPI_INT, firsts, 1, MPI_INT, comm),
                           "MPI_Allgather", err);
    if (!st)
        ddp_group_set_places(g, firsts);
    free(firsts);
    return st;
}

static ddp_status mpi_open(ddp_group *g, ddp_error *err)
{
    struct mpi_group *m = calloc(1, sizeof *m);
    int rank = 0, size = 0;

    if (!m)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for MPI's requests");
    m->comm = MPI_COMM_NULL;
    for (int c = 0; c < DDP_CHANNELS_MAX - 1; c++)
        m->more[c] = MPI_COMM_NULL;
    if (ddp_mpi_start(&m->must_finalize, err) || ddp_mpi_greet_ranks(err)
        || own_communicator(&m->comm, &rank, &size, err)) {
        free(m);
        return err->code;
    }
    g->own = m;
    g->transport = &transport;
    if (ddp_group_set_ranks(g, rank, size, err) || find_places(g, err)
        || ddp_chunk_pipeline_open(g, err)) {
        g->failure = *err; /* do not wait for the peers */
        mpi_close(g);
        return err->code;
    }
    return DDP_OK;
}

const struct ddp_backend ddp_backend_mpi = {
    .name = "mpi",
    .kind = ddp_mpi_kind_of_library,
    .open = mpi_open,
    .close = mpi_close,
    .abort = ddp_group_exit,
};
