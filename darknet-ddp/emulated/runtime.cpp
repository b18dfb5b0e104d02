/* The emulated CUDA runtime: calls about devices and errors, and calls that copy or set memory.
 * memory.cpp allocates memory; stream.cpp has streams and events. */
#include "emulated.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace
{

thread_local cudaError_t last_error = cudaSuccess;
thread_local int device_of_thread;

struct error_text {
    cudaError_t error;
    const char *name, *text;
};

/* The errors' names and texts, in CUDA's own words. */
const error_text error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const error_text &text_of(cudaError_t error)
{
    for (const error_text &t : error_texts)
        if (t.error == error)
            return t;
    return text_of(cudaErrorUnknown);
}

/* Return which way a copy goes; cudaMemcpyDefault if the pointers are not what kind says. */
cudaMemcpyKind direction(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    using emulated::on_device;
    bool to_device = on_device(to, bytes), from_device = on_device(from, bytes);
    auto found = static_cast<cudaMemcpyKind>((from_device ? 2 : 0) + (to_device ? 1 : 0));

    /* a copy that leaves its array is one to host memory at a device address */
    if ((!to_device && on_device(to, 1)) || (!from_device && on_device(from, 1)))
        return cudaMemcpyDefault;
    return kind == cudaMemcpyDefault || kind == found ? found : cudaMemcpyDefault;
}

emulated::completion queue_copy(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    return emulated::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}

/* Queue a copy from host memory as it is now. */
emulated::completion queue_snapshot(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    auto first = static_cast<const char *>(from);
    auto copy = std::make_shared<std::vector<char>>(first, first + bytes);

    return emulated::enqueue(stream, [=] { std::memcpy(to, copy->data(), bytes); });
}

} // namespace

namespace emulated
{

int devices()
{
    static const int count = [] {
        const char *text = std::getenv("EMULATED_DEVICES");
        return text ? std::atoi(text) : 1;
    }();

    return count;
}

int current_device()
{
    return device_of_thread;
}

cudaError_t report(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

} // namespace emulated

using namespace emulated;

namespace
{

/* Queue a copy. waits: true to wait for what is queued before the host's memory is read, and then
 * for the copy. It does not wait for a copy from pageable memory to arrive, nor for one within the
 * device. */
cudaError_t copy(const char *call, void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool waits)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails(call))
        return report(cudaErrorIllegalAddress);
    if (!bytes)
        return cudaSuccess;

    cudaMemcpyKind way = direction(to, from, bytes, kind);
    bool to_device = way == cudaMemcpyHostToDevice, to_host = way == cudaMemcpyDeviceToHost;

    if (way == cudaMemcpyDefault)
        return report(cudaErrorInvalidValue);
    if (to_device || to_host)
        count_bytes(to_device, bytes);
    if (to_device && waits)
        wait_stream(nullptr);
    if (to_device && !pinned(from, bytes)) {
        (void)queue_snapshot(to, from, bytes, stream);
    } else {
        completion end = queue_copy(to, from, bytes, stream);

        if ((to_host && !pinned(to, bytes)) || (waits && way != cudaMemcpyDeviceToDevice))
            wait(end);
    }
    run_ready();
    return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = devices();
    return devices() ? cudaSuccess : report(cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (device < 0 || device >= devices() || fails("cudaSetDevice"))
        return report(cudaErrorInvalidDevice);
    device_of_thread = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = device_of_thread;
    return devices() ? cudaSuccess : report(cudaErrorNoDevice);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    size_t free_bytes;

    if (device < 0 || device >= devices())
        return report(cudaErrorInvalidDevice);
    std::memset(properties, 0, sizeof *properties);
    std::snprintf(properties->name, sizeof properties->name, "Emulated device");
    (void)cudaMemGetInfo(&free_bytes, &properties->totalGlobalMem);
    properties->sharedMemPerBlock = 49152;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->major = 9;
    properties->multiProcessorCount = 1;
    properties->unifiedAddressing = 1;
    properties->pciBusID = device + 1;
    properties->uuid.bytes[0] = static_cast<char>(device + 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    if (device < 0 || device >= devices())
        return report(cudaErrorInvalidDevice);
    *value = attribute == cudaDevAttrMaxThreadsPerBlock       ? 1024
             : attribute == cudaDevAttrMultiProcessorCount    ? 1
             : attribute == cudaDevAttrComputeCapabilityMajor ? 9
                                                              : 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    if (device < 0 || device >= devices())
        return report(cudaErrorInvalidDevice);
    (void)std::snprintf(id, static_cast<size_t>(length), "0000:%02X:00.0", device + 1);
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned)
{
    return devices() ? cudaSuccess : report(cudaErrorNoDevice);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = devices() ? CUDART_VERSION : 0;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;

    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return text_of(error).name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return text_of(error).text;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy("cudaMemcpyAsync", to, from, bytes, kind, stream, false);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy("cudaMemcpy", to, from, bytes, kind, nullptr, true);
}

cudaError_t cudaMemsetAsync(void *x, int value, size_t bytes, cudaStream_t stream)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaMemsetAsync"))
        return report(cudaErrorIllegalAddress);
    if (!bytes)
        return cudaSuccess;
    if (!on_device(x, bytes))
        return report(cudaErrorInvalidValue);
    (void)enqueue(stream, [=] { std::memset(x, value, bytes); });
    run_ready();
    return cudaSuccess;
}

cudaError_t cudaMemset(void *x, int value, size_t bytes)
{
    if (fails("cudaMemset"))
        return report(cudaErrorIllegalAddress);
    return cudaMemsetAsync(x, value, bytes, nullptr);
}

} // extern "C"
