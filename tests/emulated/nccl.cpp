/* NCCL: communicators, groups, and the queueing of their transfers (channel.h).
 *
 * A communicator that does not block takes its time: it says ncclInProgress when it is opened, and for what is called
 * first on it, and queues nothing before ncclCommGetAsyncError has said ncclSuccess. What NCCL leaves undefined, registered
 * memory on one side of a call and other memory on the other, ends the process. */
#include "nccl.h"

#include "channel.h"
#include "emulated.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace emulated;

namespace
{

struct span {
    const char *x;
    size_t bytes;
};

/* Lives as long as something of it is queued. */
struct communicator {
    std::mutex mutex; /* of the channel's steps */
    std::unique_ptr<channel> link;
    bool blocking = true;
    bool ready = false; /* all ranks came */
    bool finalized = false;
    std::atomic<bool> aborted{false}, failed{false};
    unsigned answers = 1; /* of ncclInProgress to give */
    bool warm = false;    /* something was called on it */
    std::vector<std::function<void()>> deferred;
    std::vector<work_end> queued;
    std::map<void *, span> registered; /* by handle */
};

using communicator_ref = std::shared_ptr<communicator>;

struct call {
    communicator_ref comm;
    cudaStream_t stream;
    transfer t;
};

thread_local int group_depth;
thread_local std::vector<call> group_calls;
thread_local ncclResult_t group_error = ncclSuccess;

size_t bytes_of(ncclDataType_t type)
{
    switch (type) {
    case ncclInt8:
    case ncclUint8:
        return 1;
    case ncclInt32:
    case ncclFloat32:
        return 4;
    case ncclInt64:
    case ncclFloat64:
        return 8;
    }
    return 0;
}

/* All transfers of one group on one stream: collectives one after the other, messages at once. */
bool advance_all(communicator &c, std::vector<transfer> &transfers)
{
    std::lock_guard<std::mutex> lock(c.mutex);
    bool done = true;

    if (c.aborted)
        return true;
    for (transfer &t : transfers) {
        if (t.broken)
            c.failed = true;
        if (!c.link->advance(t))
            done = false;
    }
    return done;
}

void queue(const communicator_ref &c, cudaStream_t stream, const std::vector<transfer> &transfers)
{
    auto own = std::make_shared<std::vector<transfer>>(transfers);

    c->queued.erase(std::remove_if(c->queued.begin(), c->queued.end(), is_done), c->queued.end());
    c->queued.push_back(enqueue_attempt(stream, [c, own] { return advance_all(*c, *own); }));
}

/* Those of one communicator and stream, in the order of the calls. */
void queue_calls(const std::vector<call> &calls)
{
    std::vector<bool> taken(calls.size());

    for (size_t i = 0; i < calls.size(); i++) {
        std::vector<transfer> same;

        for (size_t j = i; j < calls.size(); j++)
            if (!taken[j] && calls[j].comm == calls[i].comm && calls[j].stream == calls[i].stream) {
                taken[j] = true;
                same.push_back(calls[j].t);
            }
        if (!same.empty())
            queue(calls[i].comm, calls[i].stream, same);
    }
    let_run();
}

bool still_busy(const communicator &c)
{
    return !c.ready || !c.deferred.empty();
}

ncclResult_t launch_calls(std::vector<call> calls)
{
    bool later = false;

    for (const call &one : calls)
        if (still_busy(*one.comm) || one.comm->finalized)
            return ncclInvalidArgument;
    for (call &one : calls) {
        communicator &c = *one.comm;

        one.t.turn = c.link->take_turn(one.t);
        later = later || (!c.blocking && (!c.warm || chance(4) == 1));
        c.warm = true;
    }
    if (!later) {
        queue_calls(calls);
        return ncclSuccess;
    }
    calls[0].comm->answers = 2;
    calls[0].comm->deferred.push_back([calls] { queue_calls(calls); });
    return ncclInProgress;
}

bool valid_memory(const transfer &t, int size)
{
    auto n = static_cast<size_t>(size);
    size_t out = t.what == operation::allgather        ? t.bytes * n
                 : t.what == operation::reduce_scatter ? t.bytes / n
                                                       : t.bytes;

    return !t.bytes
           || ((!t.from || on_device(t.from, t.bytes)) && (!t.to || on_device(t.to, out)));
}

bool is_registered(const communicator &c, const char *x)
{
    return std::any_of(c.registered.begin(), c.registered.end(), [x](const auto &one) {
        return x >= one.second.x && x < one.second.x + one.second.bytes;
    });
}

transfer make(operation what, const void *from, void *to, size_t count, ncclDataType_t type,
              int peer = 0, ncclRedOp_t op = ncclSum)
{
    return {what,           static_cast<const char *>(from),
            static_cast<char *>(to), count * bytes_of(type), bytes_of(type), peer,
            op == ncclAvg,  false,  false,
            0};
}

} // namespace

struct emulated_communicator {
    communicator_ref ref;
};

namespace
{

ncclResult_t add_call(emulated_communicator *comm, cudaStream_t stream, transfer t)
{
    ncclResult_t error = ncclSuccess;

    if (!comm || !t.element_bytes || t.peer < 0 || !comm->ref->link
        || t.peer >= comm->ref->link->size || !valid_memory(t, comm->ref->link->size))
        error = ncclInvalidArgument;
    if (error == ncclSuccess)
        t.registered = is_registered(*comm->ref, t.to ? t.to : t.from);
    if (group_depth) {
        if (error != ncclSuccess)
            group_error = error;
        else
            group_calls.push_back({comm->ref, stream, t});
        return error;
    }
    return error != ncclSuccess ? error : launch_calls({{comm->ref, stream, t}});
}

/* Is the communicator free for the next call? */
ncclResult_t poll(communicator &c)
{
    if (c.aborted)
        return ncclInvalidUsage;
    if (c.failed || (!c.finalized && c.link->lost_a_rank()))
        return ncclRemoteError;
    if (!c.ready && !c.link->everybody_came())
        return ncclInProgress;
    if (c.answers) {
        c.answers--;
        return ncclInProgress;
    }
    c.ready = true;
    for (auto &action : std::exchange(c.deferred, {}))
        action();
    if (c.finalized)
        for (const work_end &end : c.queued)
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
    std::random_device random;

    if (fails("ncclGetUniqueId"))
        return ncclSystemError;
    std::memset(id, 0, sizeof *id);
    (void)std::snprintf(id->internal, sizeof id->internal, "/emulated-nccl-%d-%08x%08x", getpid(),
                        random(), random());
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
    if (still_busy(c) || c.finalized)
        return ncclInvalidArgument;
    c.finalized = true;
    if (!c.blocking) {
        c.answers = 1;
        return ncclInProgress;
    }
    for (const work_end &end : c.queued)
        wait(end);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (!comm)
        return ncclSuccess;
    for (const work_end &end : comm->ref->queued)
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

/* Waits for nothing. */
ncclResult_t ncclMemFree(void *x)
{
    return release(x) ? ncclSuccess : ncclUnhandledCudaError;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[] = {
        "no error",         "unhandled cuda error", "unhandled system error", "internal error",
        "invalid argument", "invalid usage",        "remote process exited or there was a network error",
        "NCCL operation in progress"};

    return result >= 0 && result <= ncclInProgress ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    return comm && comm->ref->failed ? "emulated failure" : "";
}

ncclResult_t ncclGroupStart(void)
{
    group_depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    std::vector<call> calls;
    ncclResult_t error;

    if (!group_depth)
        return ncclInvalidUsage;
    if (--group_depth)
        return ncclSuccess;
    calls.swap(group_calls);
    error = std::exchange(group_error, ncclSuccess);
    if (fails("ncclGroupEnd"))
        error = ncclSystemError;
    return error != ncclSuccess || calls.empty() ? error : launch_calls(std::move(calls));
}

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    transfer t = make(operation::allreduce, send, recv, count, type, 0, op);

    if (type != ncclFloat)
        return ncclInvalidArgument;
    if (fails("ncclAllReduce"))
        return ncclSystemError;
    t.broken = fails("ncclAllReduce/async");
    return add_call(comm, stream, t);
}

ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t recv_count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    size_t size = comm ? static_cast<size_t>(comm->ref->link->size) : 1;

    if (type != ncclFloat)
        return ncclInvalidArgument;
    if (fails("ncclReduceScatter"))
        return ncclSystemError;
    return add_call(comm, stream,
                    make(operation::reduce_scatter, send, recv, recv_count * size, type, 0, op));
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t send_count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    if (fails("ncclAllGather"))
        return ncclSystemError;
    return add_call(comm, stream, make(operation::allgather, send, recv, send_count, type));
}

ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream)
{
    bool sends = comm && comm->ref->link->rank == root;

    if (fails("ncclBroadcast"))
        return ncclSystemError;
    return add_call(comm, stream,
                    make(operation::broadcast, sends ? send : nullptr, recv, count, type, root));
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    transfer t = make(operation::send, send, nullptr, count, type, peer);

    if (fails("ncclSend"))
        return ncclSystemError;
    t.broken = fails("ncclSend/async");
    return add_call(comm, stream, t);
}

ncclResult_t ncclRecv(void *recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    if (fails("ncclRecv"))
        return ncclSystemError;
    return add_call(comm, stream, make(operation::receive, nullptr, recv, count, type, peer));
}

} // extern "C"
