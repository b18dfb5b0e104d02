/* A communicator of the emulated NCCL: nccl.cpp opens and closes it, nccl_calls.cpp queues
 * transfers of it. */
#ifndef EMULATED_COMMUNICATOR_H
#define EMULATED_COMMUNICATOR_H

#include "channel.h"
#include "emulated.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace emulated
{

struct registration {
    const char *x;
    size_t bytes;
};

/* A communicator, which lives as long as a transfer of it is queued. */
struct communicator {
    std::mutex mutex; /* guards the channel's steps */
    std::unique_ptr<channel> link;
    bool blocking = true;
    bool ready = false; /* true: all ranks have come */
    bool finalized = false;
    std::atomic<bool> aborted{false}, failed{false};
    unsigned answers = 1; /* how many times to answer ncclInProgress */
    bool warm = false;    /* true: something was called on it */
    std::vector<std::function<void()>> deferred;
    std::vector<work_end> queued;
    std::map<void *, registration> registered; /* by handle */
};

using communicator_ref = std::shared_ptr<communicator>;

} // namespace emulated

struct emulated_communicator {
    emulated::communicator_ref ref;
};

#endif
