/* emulated/communicator.h: a communicator of the emulated NCCL. nccl.cpp opens and closes it;
 * nccl_calls.cpp queues its collectives and messages. */
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

/* Memory that is registered by ncclCommRegister. */
struct registration {
    const char *x;
    size_t bytes;
};

/* A communicator. Each queued transfer holds a reference to it. */
struct communicator {
    std::mutex mutex; /* guards the transfers of `link` */
    std::unique_ptr<channel> link;
    bool blocking = true;
    bool ready = false; /* true: all ranks have opened it, and a poll has said so */
    bool finalized = false;
    std::atomic<bool> aborted{false}, failed{false};
    unsigned in_progress_left = 1; /* polls that return ncclInProgress after all have opened it */
    bool used = false;             /* true: a transfer was called on this communicator */
    /* transfers to queue at the next poll that returns ncclSuccess */
    std::vector<std::function<void()>> deferred;
    /* one for each group of transfers queued together; ended ones go when more is queued */
    std::vector<completion> queued;
    std::map<void *, registration> registered; /* memory of ncclCommRegister, by its handle */
};

using communicator_ref = std::shared_ptr<communicator>;

} // namespace emulated

struct emulated_communicator {
    emulated::communicator_ref ref;
};

#endif
