/* emulated/communicator.h: a communicator of the emulated NCCL. nccl.cpp opens and closes it;
 * nccl_calls.cpp queues its transfers. */
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

/* Memory that ncclCommRegister has registered. */
struct registration {
    const char *x;
    size_t bytes;
};

/* A communicator. It lives as long as anybody has a reference, such as a queued transfer. */
struct communicator {
    std::mutex mutex; /* guards the channel's steps */
    std::unique_ptr<channel> link;
    bool blocking = true;
    bool ready = false; /* true: all ranks have opened it */
    bool finalized = false;
    std::atomic<bool> aborted{false}, failed{false};
    unsigned answers = 1;                        /* how many more times to answer ncclInProgress */
    bool warm = false;                           /* true: a transfer was called on it */
    std::vector<std::function<void()>> deferred; /* calls that wait for it to be ready */
    std::vector<work_end> queued; /* ends of transfers; a new transfer drops those past */
    std::map<void *, registration> registered; /* registered memory by its handle */
};

using communicator_ref = std::shared_ptr<communicator>;

} // namespace emulated

struct emulated_communicator {
    emulated::communicator_ref ref;
};

#endif
