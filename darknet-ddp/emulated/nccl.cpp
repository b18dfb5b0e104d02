/* The emulated NCCL's calls that open, poll and close communicators, and that allocate and register
 * memory. A communicator that does not block answers ncclInProgress when opened or finalized. */
#include "communicator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

using namespace emulated;

namespace
{

/* Return ncclSuccess if the communicator is free for the next call. */
ncclResult_t poll(communicator &c)
{
    if (c.aborted)
        return ncclInvalidUsage;
    if (c.failed || (!c.finalized && c.link->has_lost_rank()))
        return ncclRemoteError;
    if (!c.ready && !c.link->all_opened())
        return ncclInProgress;
    if (c.in_progress_left) {
        c.in_progress_left--;
        return ncclInProgress;
    }
    c.ready = true;
    for (auto &action : std::exchange(c.deferred, {}))
        action();
    if (c.finalized)
        for (const completion &end : c.queued)
            if (!is_done(end))
                return ncclInProgress;
    return ncclSuccess;
}

ncclResult_t until_free(communicator &c)
{
    ncclResult_t state;

    while ((state = poll(c)) == ncclInProgress)
        usleep(100);
    return state;
}

} // namespace

extern "C" {

ncclResult_t ncclGetVersion(int *version)
{
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    if (fails("ncclGetUniqueId"))
        return ncclSystemError;
    std::memset(id, 0, sizeof *id);
    channel::new_name().copy(id->internal, sizeof id->internal - 1);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    auto c = std::make_shared<communicator>();

    *comm = nullptr;
    if (size < 1 || size > most_ranks || rank < 0 || rank >= size || id.internal[0] != '/'
        || (config && config->magic != 0xcafebeef))
        return ncclInvalidArgument;
    if (!devices() || fails("ncclCommInitRankConfig"))
        return ncclUnhandledCudaError;
    c->blocking = !config || config->blocking != 0;
    c->link.reset(channel::open(id.internal, size, rank));
    if (!c->link)
        return ncclSystemError;
    *comm = new emulated_communicator{c};
    return c->blocking ? until_free(*c) : ncclInProgress;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int size, ncclUniqueId id, int rank)
{
    return ncclCommInitRankConfig(comm, size, id, rank, nullptr);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state)
{
    if (!comm || fails("ncclCommGetAsyncError"))
        return ncclInvalidArgument;
    *state = poll(*comm->ref);
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    communicator &c = *comm->ref;

    if (fails("ncclCommFinalize"))
        return ncclSystemError;
    if (!c.registered.empty()) {
        std::fprintf(stderr, "emulated NCCL: a communicator ends that memory is registered with\n");
        std::abort();
    }
    if (!c.ready || !c.deferred.empty() || c.finalized)
        return ncclInvalidArgument;
    c.finalized = true;
    if (!c.blocking) {
        c.in_progress_left = 1;
        return ncclInProgress;
    }
    for (const completion &end : c.queued)
        wait(end);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (!comm)
        return ncclSuccess;
    for (const completion &end : comm->ref->queued)
        wait(end);
    comm->ref->link->leave(false);
    delete comm;
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    if (!comm)
        return ncclSuccess;
    comm->ref->aborted = true;
    comm->ref->deferred.clear();
    comm->ref->link->leave(true);
    delete comm;
    return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *size)
{
    *size = comm->ref->link->size;
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    *rank = comm->ref->link->rank;
    return ncclSuccess;
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void *x, size_t bytes, void **handle)
{
    if (!comm || !on_device(x, bytes) || fails("ncclCommRegister"))
        return ncclInvalidArgument;
    *handle = new char;
    comm->ref->registered[*handle] = {static_cast<char *>(x), bytes};
    return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
    if (!comm || !comm->ref->registered.erase(handle))
        return ncclInvalidArgument;
    delete static_cast<char *>(handle);
    return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void **x, size_t bytes)
{
    *x = nullptr;
    if (fails("ncclMemAlloc") || cudaMalloc(x, bytes) != cudaSuccess)
        return ncclUnhandledCudaError;
    return ncclSuccess;
}

/* Free memory without waiting, unlike cudaFree: work that is queued on the memory crashes. */
ncclResult_t ncclMemFree(void *x)
{
    return release(x) ? ncclSuccess : ncclUnhandledCudaError;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[] = {"no error",
                                        "unhandled cuda error",
                                        "unhandled system error",
                                        "internal error",
                                        "invalid argument",
                                        "invalid usage",
                                        "remote process exited or there was a network error",
                                        "NCCL operation in progress"};

    return result >= 0 && result <= ncclInProgress ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    return comm && comm->ref->failed ? "emulated failure" : "";
}

} // extern "C"
