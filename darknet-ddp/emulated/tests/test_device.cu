/* Tests of the emulated device itself: kernels, memory, streams and events, under the order of work
 * that EMULATED_ORDER names. */
#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include <cmocka.h>
}

#define CALL(call) assert_int_equal(call, cudaSuccess)

static bool order_is(const char *name)
{
    const char *order = getenv("EMULATED_ORDER");

    return !strcmp(order ? order : "eager", name);
}

static float *device_floats(size_t count)
{
    void *x;

    CALL(cudaMalloc(&x, count * sizeof(float)));
    return (float *)x;
}

static float pull(const float *x)
{
    float value;

    CALL(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static cudaStream_t new_stream(unsigned flags)
{
    cudaStream_t stream;

    CALL(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static cudaEvent_t new_event()
{
    cudaEvent_t event;

    CALL(cudaEventCreate(&event));
    return event;
}

/* ---- kernels ---- */

__global__ void set_kernel(float *x, float value)
{
    *x = value;
}

__global__ void copy_kernel(float *to, const float *from)
{
    *to = *from;
}

/* A block's sum of x[0..count), its threads in reverse. */
__global__ void block_sum_kernel(const float *x, int count, float *sums)
{
    __shared__ float part[256];
    int id = threadIdx.x;

    part[blockDim.x - 1 - id] = id < count ? x[id] * (blockIdx.x + 1) : 0;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (id < half)
            part[id] += part[id + half];
    }
    if (id == 0)
        sums[blockIdx.x] = part[0];
}

template <int WIDTH> __global__ void warp_sum_kernel(float *sums)
{
    extern __shared__ float of_warp[];
    float sum = threadIdx.x;

    for (int delta = WIDTH / 2; delta > 0; delta /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, delta);
    if (threadIdx.x % WIDTH == 0)
        of_warp[threadIdx.x / WIDTH] = sum;
    __syncthreads();
    if (threadIdx.x >= WIDTH)
        return; /* those that have ended are not waited for */
    sum = threadIdx.x < blockDim.x / WIDTH ? of_warp[threadIdx.x] : 0;
    for (int bit = WIDTH / 2; bit > 0; bit /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, bit);
    sums[threadIdx.x] = sum;
}

__global__ void place_kernel(unsigned *places, dim3 expected)
{
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);

    if (blockDim.x == expected.x && blockDim.y == expected.y && blockDim.z == expected.z)
        atomicAdd(&places[block * blockDim.x * blockDim.y * blockDim.z + thread], 1u);
}

static void threads_of_a_block_meet_at_barriers(void **)
{
    float host[200], sums[3];
    float *x = device_floats(200), *out = device_floats(3);

    for (int i = 0; i < 200; i++)
        host[i] = (float)i;
    CALL(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    block_sum_kernel<<<3, 256>>>(x, 200, out);
    CALL(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 3; i++)
        assert_int_equal((int)sums[i], 19900 * (i + 1));
    CALL(cudaFree(x));
    CALL(cudaFree(out));
}

static void threads_of_a_warp_shuffle(void **)
{
    float sums[32];
    float *out = device_floats(32);

    warp_sum_kernel<32><<<1, 512, 16 * sizeof(float)>>>(out);
    CALL(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        assert_int_equal((int)sums[i], 511 * 512 / 2);
    CALL(cudaFree(out));
}

static void every_thread_of_a_grid_runs_once(void **)
{
    std::vector<unsigned> places(2 * 3 * 4 * 5 * 6 * 7);
    size_t bytes = places.size() * sizeof(unsigned);
    void *x;

    CALL(cudaMalloc(&x, bytes));
    CALL(cudaMemset(x, 0, bytes));
    place_kernel<<<dim3(2, 3, 4), dim3(5, 6, 7)>>>((unsigned *)x, dim3(5, 6, 7));
    CALL(cudaMemcpy(places.data(), x, bytes, cudaMemcpyDeviceToHost));
    for (unsigned count : places)
        assert_int_equal(count, 1);
    CALL(cudaFree(x));
}

static void a_launch_that_no_device_takes_is_an_error(void **)
{
    set_kernel<<<1, 1025>>>(nullptr, 0);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    set_kernel<<<0, 1>>>(nullptr, 0);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

/* ---- memory ---- */

static void host_code_that_touches_device_memory_crashes(void **)
{
    float *x = device_floats(1);
    int status;
    pid_t child;

    set_kernel<<<1, 1>>>(x, 1);
    CALL(cudaDeviceSynchronize());
    child = fork();
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL);
        *(volatile float *)x = 2;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_true(pull(x) == 1);
    CALL(cudaFree(x));
}

static void copies_that_leave_their_memory_are_errors(void **)
{
    float *x = device_floats(4);
    float host[8] = {0};

    assert_int_equal(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(host, host + 4, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_int_equal(cudaMemsetAsync(host, 0, 4, 0), cudaErrorInvalidValue);
    CALL(cudaMemcpy(x, host, 16, cudaMemcpyHostToDevice));
    CALL(cudaFree(x));
    assert_int_equal(cudaFree(x), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(host, x, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    (void)cudaGetLastError();
}

static void fresh_memory_is_not_a_number(void **)
{
    float *x = device_floats(1);

    assert_true(std::isnan(pull(x)));
    CALL(cudaFree(x));
}

static void pinned_memory_is_read_when_the_queue_gets_there(void **)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    float *x = device_floats(1), *y = device_floats(1), *pinned;
    float pageable = 1;

    CALL(cudaMallocHost((void **)&pinned, sizeof *pinned));
    *pinned = 1;
    CALL(cudaMemcpyAsync(x, pinned, sizeof *x, cudaMemcpyHostToDevice, stream));
    CALL(cudaMemcpyAsync(y, &pageable, sizeof *y, cudaMemcpyHostToDevice, stream));
    *pinned = pageable = 2;
    CALL(cudaStreamSynchronize(stream));
    assert_true(pull(y) == 1);
    if (order_is("eager"))
        assert_true(pull(x) == 1);
    if (order_is("streams-late"))
        assert_true(pull(x) == 2);
    CALL(cudaFreeHost(pinned));
    CALL(cudaFree(x));
    CALL(cudaFree(y));
    CALL(cudaStreamDestroy(stream));
}

/* ---- streams ---- */

/* set on one stream, copied on another: what does the copy see? */
static float seen_by(cudaStream_t writer, cudaStream_t reader, bool with_event)
{
    float *x = device_floats(1), *y = device_floats(1);
    cudaEvent_t event = new_event();
    float seen;

    set_kernel<<<1, 1, 0, writer>>>(x, 1);
    if (with_event) {
        CALL(cudaEventRecord(event, writer));
        CALL(cudaStreamWaitEvent(reader, event, 0));
    }
    copy_kernel<<<1, 1, 0, reader>>>(y, x);
    CALL(cudaStreamSynchronize(reader));
    seen = pull(y);
    CALL(cudaFree(x));
    CALL(cudaFree(y));
    CALL(cudaEventDestroy(event));
    return seen;
}

static void events_order_streams_that_do_not_block(void **)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);

    assert_true(seen_by(0, stream, true) == 1);
    assert_true(seen_by(stream, 0, true) == 1);
    if (order_is("compute-late"))
        assert_true(std::isnan(seen_by(0, stream, false)));
    if (order_is("streams-late"))
        assert_true(std::isnan(seen_by(stream, 0, false)));
    CALL(cudaStreamDestroy(stream));
}

static void the_default_stream_orders_streams_that_block(void **)
{
    cudaStream_t one = new_stream(cudaStreamDefault), two = new_stream(cudaStreamDefault);
    float *x = device_floats(1);

    assert_true(seen_by(0, one, false) == 1);
    assert_true(seen_by(one, 0, false) == 1);
    set_kernel<<<1, 1, 0, one>>>(x, 1);
    set_kernel<<<1, 1>>>(x, 2);
    set_kernel<<<1, 1, 0, two>>>(x, 3);
    CALL(cudaDeviceSynchronize());
    assert_true(pull(x) == 3);
    CALL(cudaFree(x));
    CALL(cudaStreamDestroy(one));
    CALL(cudaStreamDestroy(two));
}

static void a_wait_is_for_what_was_recorded_before_it(void **)
{
    cudaStream_t one = new_stream(cudaStreamNonBlocking), two = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event();
    float *x = device_floats(1), *y = device_floats(1);

    CALL(cudaStreamWaitEvent(two, event, 0)); /* never recorded */
    set_kernel<<<1, 1, 0, one>>>(x, 1);
    CALL(cudaEventRecord(event, one));
    CALL(cudaStreamWaitEvent(two, event, 0));
    CALL(cudaEventRecord(event, two));
    CALL(cudaStreamWaitEvent(one, event, 0));
    copy_kernel<<<1, 1, 0, two>>>(y, x);
    CALL(cudaStreamSynchronize(two));
    assert_true(pull(y) == 1);
    CALL(cudaStreamSynchronize(one));
    CALL(cudaEventDestroy(event));
    CALL(cudaFree(x));
    CALL(cudaFree(y));
}

static void an_event_that_is_asked_passes_in_the_end(void **)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaEvent_t start = new_event(), end = new_event();
    float *x = device_floats(1);
    int asked = 0;
    float ms = -1;

    CALL(cudaEventQuery(end));
    CALL(cudaEventRecord(start, stream));
    set_kernel<<<1, 1, 0, stream>>>(x, 1);
    CALL(cudaEventRecord(end, stream));
    while (cudaEventQuery(end) == cudaErrorNotReady) {
        assert_int_equal(cudaGetLastError(), cudaErrorNotReady);
        asked++;
    }
    if (order_is("eager"))
        assert_int_equal(asked, 0);
    if (order_is("streams-late"))
        assert_int_equal(asked, 3);
    CALL(cudaEventElapsedTime(&ms, start, end));
    assert_true(ms >= 0);
    CALL(cudaEventDestroy(start));
    CALL(cudaEventDestroy(end));
    CALL(cudaFree(x));
}

static void write_one(void *flag)
{
    *(int *)flag = 1;
}

static void a_queue_that_nobody_waits_for_runs_by_itself(void **)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    static volatile int flags[2];

    CALL(cudaLaunchHostFunc(stream, write_one, (void *)&flags[0]));
    CALL(cudaLaunchHostFunc(0, write_one, (void *)&flags[1]));
    for (int i = 0; i < 5000 && !(flags[0] && flags[1]); i++)
        usleep(1000);
    assert_int_equal(flags[0] + flags[1], 2);
    CALL(cudaDeviceSynchronize());
}

static void the_named_call_fails(void **)
{
    CALL(cudaStreamQuery(0));
    assert_int_equal(cudaStreamQuery(0), cudaErrorIllegalAddress);
    CALL(cudaStreamQuery(0));
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_a_block_meet_at_barriers),
        cmocka_unit_test(threads_of_a_warp_shuffle),
        cmocka_unit_test(every_thread_of_a_grid_runs_once),
        cmocka_unit_test(a_launch_that_no_device_takes_is_an_error),
        cmocka_unit_test(host_code_that_touches_device_memory_crashes),
        cmocka_unit_test(copies_that_leave_their_memory_are_errors),
        cmocka_unit_test(fresh_memory_is_not_a_number),
        cmocka_unit_test(pinned_memory_is_read_when_the_queue_gets_there),
        cmocka_unit_test(events_order_streams_that_do_not_block),
        cmocka_unit_test(the_default_stream_orders_streams_that_block),
        cmocka_unit_test(a_wait_is_for_what_was_recorded_before_it),
        cmocka_unit_test(an_event_that_is_asked_passes_in_the_end),
        cmocka_unit_test(a_queue_that_nobody_waits_for_runs_by_itself),
        cmocka_unit_test(the_named_call_fails),
    };

    (void)setenv("EMULATED_FAIL", "cudaStreamQuery:2", 1);
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
