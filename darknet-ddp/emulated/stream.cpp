/* The emulated CUDA runtime: calls about streams and events. queue.cpp runs what is queued. */
#include "emulated.h"

using namespace emulated;

struct emulated_event {
    completion end; /* NULL: not recorded yet */
    bool timed;
};

namespace
{

cudaError_t query(const completion &end)
{
    return try_finish(end) ? cudaSuccess : report(cudaErrorNotReady);
}

} // namespace

extern "C" {

cudaError_t cudaDeviceSynchronize(void)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaDeviceSynchronize"))
        return report(cudaErrorIllegalAddress);
    wait_everything();
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return devices() ? cudaSuccess : report(cudaErrorNoDevice);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaStreamCreate"))
        return report(cudaErrorMemoryAllocation);
    *stream = make_stream(!(flags & cudaStreamNonBlocking));
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

/* Close a stream; what is queued on it still runs. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return close_stream(stream) ? cudaSuccess : report(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaStreamSynchronize"))
        return report(cudaErrorIllegalAddress);
    wait_stream(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaStreamQuery"))
        return report(cudaErrorIllegalAddress);
    return query(last_completion(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    if (!event || fails("cudaStreamWaitEvent"))
        return report(cudaErrorInvalidResourceHandle);
    if (!is_done(event->end))
        (void)enqueue_marker(stream, event->end);
    run_ready();
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    if (fails("cudaLaunchHostFunc"))
        return report(cudaErrorInvalidResourceHandle);
    (void)enqueue_host(stream, [=] { function(data); });
    run_ready();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaEventCreate"))
        return report(cudaErrorMemoryAllocation);
    *event = new emulated_event{nullptr, !(flags & cudaEventDisableTiming)};
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!event)
        return report(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (!event || fails("cudaEventRecord"))
        return report(cudaErrorInvalidResourceHandle);
    event->end = enqueue_marker(stream, nullptr);
    run_ready();
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (!event)
        return report(cudaErrorInvalidResourceHandle);
    if (fails("cudaEventQuery"))
        return report(cudaErrorIllegalAddress);
    return query(event->end);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (!event)
        return report(cudaErrorInvalidResourceHandle);
    if (fails("cudaEventSynchronize"))
        return report(cudaErrorIllegalAddress);
    wait(event->end);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    if (!start || !end || !start->end || !end->end || !start->timed || !end->timed)
        return report(cudaErrorInvalidResourceHandle);
    if (!is_done(start->end) || !is_done(end->end))
        return report(cudaErrorNotReady);
    *ms = measured_ms(static_cast<float>(ms_between(start->end, end->end)));
    return cudaSuccess;
}

} // extern "C"
