/* The emulated NCCL's calls that queue transfers, alone or in groups.
 *
 * The first call or group on a communicator that does not block answers ncclInProgress; with
 * EMULATED_ORDER=random others may, too. Such a call is queued when ncclCommGetAsyncError answers
 * ncclSuccess. If ranks mix registered memory and other, which NCCL leaves undefined, the process
 * ends (channel.cpp). */
#include "communicator.h"

#include <algorithm>
#include <utility>

using namespace emulated;

namespace
{

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
    case ncclFloat16:
    case ncclBfloat16:
        return 2;
    case ncclInt32:
    case ncclFloat32:
        return 4;
    case ncclInt64:
    case ncclFloat64:
        return 8;
    }
    return 0;
}

/* Move along all transfers of one group on one stream: collectives one after the other, messages at
 * once. Returns true when all have ended. */
bool advance_all(communicator &c, std::vector<transfer> &transfers)
{
    std::lock_guard<std::mutex> lock(c.mutex);
    bool done = true;

    if (c.aborted)
        return true;
    for (transfer &t : transfers) {
        if (t.never_ends)
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

/* Queue calls: together those of one communicator and stream, in the order of the calls. */
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
    run_ready();
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
        later = later || (!c.blocking && (!c.used || random_below(4) == 1));
        c.used = true;
    }
    if (!later) {
        queue_calls(calls);
        return ncclSuccess;
    }
    calls[0].comm->in_progress_left = 2;
    calls[0].comm->deferred.push_back([calls] { queue_calls(calls); });
    return ncclInProgress;
}

size_t bytes_out(const transfer &t, int size)
{
    auto n = static_cast<size_t>(size);

    return t.what == operation::allgather        ? t.bytes * n
           : t.what == operation::reduce_scatter ? t.bytes / n
                                                 : t.bytes;
}

bool valid_memory(const transfer &t, int size)
{
    return !t.bytes
           || ((!t.from || on_device(t.from, t.bytes))
               && (!t.to || on_device(t.to, bytes_out(t, size))));
}

/* Return true if the memory that a transfer writes, or that a send reads, is registered. */
bool is_registered(const communicator &c, const transfer &t)
{
    const char *x = t.to ? t.to : t.from;
    size_t bytes = t.to ? bytes_out(t, c.link->size) : t.bytes;

    return std::any_of(c.registered.begin(), c.registered.end(), [x, bytes](const auto &one) {
        const registration &r = one.second;

        return x >= r.x && x + bytes <= r.x + r.bytes;
    });
}

transfer make(operation what, const void *from, void *to, size_t count, ncclDataType_t type,
              int peer = 0, ncclRedOp_t op = ncclSum)
{
    return {what,
            static_cast<const char *>(from),
            static_cast<char *>(to),
            count * bytes_of(type),
            bytes_of(type),
            peer,
            op == ncclAvg,
            type == ncclBfloat16,
            false,
            false,
            0};
}

ncclResult_t add_call(emulated_communicator *comm, cudaStream_t stream, transfer t)
{
    ncclResult_t error = ncclSuccess;

    if (!comm || !t.element_bytes || t.peer < 0 || !comm->ref->link
        || t.peer >= comm->ref->link->size || !valid_memory(t, comm->ref->link->size))
        error = ncclInvalidArgument;
    if (error == ncclSuccess)
        t.registered = is_registered(*comm->ref, t);
    if (group_depth) {
        if (error != ncclSuccess)
            group_error = error;
        else
            group_calls.push_back({comm->ref, stream, t});
        return error;
    }
    return error != ncclSuccess ? error : launch_calls({{comm->ref, stream, t}});
}

} // namespace

extern "C" {

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

    if (type != ncclFloat && type != ncclHalf && type != ncclBfloat16)
        return ncclInvalidArgument;
    if (fails("ncclAllReduce"))
        return ncclSystemError;
    t.never_ends = fails("ncclAllReduce/async");
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
    t.never_ends = fails("ncclSend/async");
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
