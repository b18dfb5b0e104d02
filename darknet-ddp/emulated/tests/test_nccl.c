/* Tests of the emulated NCCL, between three processes that this program forks. */
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 3, COUNT = 700001, PART = 1000 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "test_nccl.c:%d: rank %d: not %s\n", __LINE__, own, #condition); \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define CUDA(call) CHECK((call) == cudaSuccess)
#define NCCL(call) CHECK(settled(call) == ncclSuccess)

static int own;
static ncclComm_t comm;
static cudaStream_t stream;
static int word[2]; /* a pipe: others tell the late rank that it may come */

static ncclResult_t settled(ncclResult_t result)
{
    while (result == ncclInProgress)
        if (ncclCommGetAsyncError(comm, &result) != ncclSuccess)
            return ncclInternalError;
    return result;
}

static void open_all(ncclUniqueId id, int rank)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;

    own = rank;
    config.blocking = 0;
    CUDA(cudaSetDevice(0));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(ncclCommInitRankConfig(&comm, SIZE, id, rank, &config) == ncclInProgress);
    CHECK(ncclAllReduce(NULL, NULL, 0, ncclFloat, ncclSum, comm, stream) == ncclInvalidArgument);
    NCCL(ncclInProgress);
}

static void close_all(void)
{
    NCCL(ncclCommFinalize(comm));
    NCCL(ncclCommDestroy(comm));
}

static float *device_floats(size_t count)
{
    void *x;

    NCCL(ncclMemAlloc(&x, count * sizeof(float)));
    return x;
}

/* x[i] = first + i % 100 */
static void push(float *x, size_t count, int first)
{
    float *host = malloc(count * sizeof *host);

    CHECK(host);
    for (size_t i = 0; i < count; i++)
        host[i] = (float)(first + (int)(i % 100));
    CUDA(cudaMemcpyAsync(x, host, count * sizeof *host, cudaMemcpyHostToDevice, stream));
    free(host);
}

/* Is x[i] = factor (first + i % 100)? */
static void expect(const float *x, size_t count, int first, int factor)
{
    float *host = malloc(count * sizeof *host);

    CHECK(host);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(host, x, count * sizeof *host, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        CHECK(host[i] == (float)(factor * (first + (int)(i % 100))));
    free(host);
}

/* ---- what one rank does ---- */

static void collectives(ncclUniqueId id, int rank)
{
    float *x, *y;

    open_all(id, rank);
    x = device_floats(COUNT);
    y = device_floats(COUNT);
    push(x, COUNT, 1);
    NCCL(ncclAllReduce(x, y, COUNT, ncclFloat, ncclSum, comm, stream));
    NCCL(ncclAllReduce(y, y, COUNT, ncclFloat, ncclSum, comm, stream));
    expect(y, COUNT, 1, SIZE * SIZE);
    NCCL(ncclAllReduce(y, y, COUNT, ncclFloat, ncclAvg, comm, stream));
    expect(y, COUNT, 1, SIZE * SIZE);
    push(x, COUNT, rank);
    NCCL(ncclBroadcast(x, x, COUNT, ncclFloat, 1, comm, stream));
    expect(x, COUNT, 1, 1);
    push(x, PART, rank);
    NCCL(ncclAllGather(x, y, PART, ncclFloat, comm, stream));
    for (int r = 0; r < SIZE; r++)
        expect(y + r * PART, PART, r, 1);
    NCCL(ncclReduceScatter(y, y + rank * PART, PART, ncclFloat, ncclSum, comm, stream));
    expect(y + rank * PART, PART, rank, SIZE);
    NCCL(ncclMemFree(x));
    NCCL(ncclMemFree(y));
    close_all();
}

/* 1 + rank/8 of each rank in 16 bits, in places; the largest float16 overflows. */
static void halves(ncclUniqueId id, int rank)
{
    static const struct {
        ncclDataType_t type;
        uint16_t one, largest, infinite;
        unsigned doubled, eighth; /* to be added for twice the number, and an eighth more of it */
    } formats[] = {{ncclHalf, 0x3c00, 0x7bff, 0x7c00, 1U << 10, 1U << 7},
                   {ncclBfloat16, 0x3f80, 0x7f7f, 0x7f80, 1U << 7, 1U << 4}};
    enum { HALVES = 3 };
    uint16_t host[HALVES];
    void *x;

    open_all(id, rank);
    NCCL(ncclMemAlloc(&x, sizeof host));
    for (int f = 0; f < 2; f++) {
        unsigned doubled = formats[f].one + formats[f].doubled, eighth = formats[f].eighth;

        host[0] = formats[f].one;
        host[1] = (uint16_t)(formats[f].one + (unsigned)rank * eighth);
        host[2] = formats[f].largest;
        CUDA(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream));
        NCCL(ncclAllReduce(x, x, HALVES, formats[f].type, ncclSum, comm, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
        /* 3 is 1.5 x 2; 1 + 1.125 + 1.25 is 3.375, 1.6875 x 2 */
        CHECK(host[0] == doubled + 4 * eighth);
        CHECK(host[1] == doubled + 11 * eighth / 2);
        CHECK(host[2] == formats[f].infinite);
    }
    NCCL(ncclMemFree(x));
    close_all();
}

static void messages(ncclUniqueId id, int rank)
{
    float *x, *y;
    void *handle, *other;

    open_all(id, rank);
    x = device_floats(COUNT);
    y = device_floats((size_t)SIZE * COUNT);
    NCCL(ncclCommRegister(comm, x, COUNT * sizeof *x, &handle));
    NCCL(ncclCommRegister(comm, y, (size_t)SIZE * COUNT * sizeof *y, &other));
    push(x, COUNT, rank);
    CHECK(ncclGroupStart() == ncclSuccess);
    for (int r = 0; r < SIZE; r++) {
        CHECK(ncclSend(x, COUNT, ncclFloat, r, comm, stream) == ncclSuccess);
        CHECK(ncclRecv(y + (size_t)r * COUNT, COUNT, ncclFloat, r, comm, stream) == ncclSuccess);
    }
    NCCL(ncclGroupEnd());
    for (int r = 0; r < SIZE; r++)
        expect(y + (size_t)r * COUNT, COUNT, r, 1);
    NCCL(ncclCommDeregister(comm, handle));
    NCCL(ncclCommDeregister(comm, other));
    close_all();
}

/* A sum waits for a rank that comes late, and a query says so. */
static void late(ncclUniqueId id, int rank)
{
    cudaEvent_t event;
    float *x;
    char byte = 0;

    open_all(id, rank);
    x = device_floats(PART);
    push(x, PART, 1);
    for (int r = 0; rank == 2 && r < 2; r++)
        CHECK(read(word[0], &byte, 1) == 1);
    NCCL(ncclAllReduce(x, x, PART, ncclFloat, ncclSum, comm, stream));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventRecord(event, stream));
    if (rank != 2) {
        CHECK(cudaEventQuery(event) == cudaErrorNotReady);
        CHECK(write(word[1], &byte, 1) == 1);
    }
    while (cudaEventQuery(event) == cudaErrorNotReady)
        ;
    expect(x, PART, 1, SIZE);
    close_all();
}

static void expect_loss(void)
{
    ncclResult_t state;

    do
        CHECK(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
    while (state == ncclSuccess || state == ncclInProgress);
    CHECK(state == ncclRemoteError);
}

/* A first sum, so that all ranks have opened the communicator. */
static float *meet(void)
{
    float *x = device_floats(PART);

    NCCL(ncclAllReduce(x, x, PART, ncclFloat, ncclSum, comm, stream));
    CUDA(cudaStreamSynchronize(stream));
    return x;
}

static void aborted(ncclUniqueId id, int rank)
{
    ncclResult_t result;
    float *x;

    open_all(id, rank);
    x = meet();
    if (rank == 1) {
        CHECK(ncclCommAbort(comm) == ncclSuccess);
        return;
    }
    result = ncclAllReduce(x, x, PART, ncclFloat, ncclSum, comm, stream);
    CHECK(result == ncclSuccess || result == ncclInProgress);
    expect_loss();
    CHECK(result == ncclInProgress || cudaStreamQuery(stream) == cudaErrorNotReady);
    CHECK(ncclCommAbort(comm) == ncclSuccess);
    CUDA(cudaStreamSynchronize(stream));
}

static void killed(ncclUniqueId id, int rank)
{
    open_all(id, rank);
    (void)meet();
    if (rank == 1)
        (void)raise(SIGKILL);
    expect_loss();
    CHECK(ncclCommAbort(comm) == ncclSuccess);
}

/* Rank 1 has registered half of what it sums. */
static void mixed_sum(ncclUniqueId id, int rank)
{
    void *handle, *half;
    float *x;

    open_all(id, rank);
    x = meet();
    NCCL(ncclCommRegister(comm, x, PART * sizeof *x, &handle));
    push(x, PART, 1);
    NCCL(ncclAllReduce(x, x, PART, ncclFloat, ncclSum, comm, stream));
    expect(x, PART, 1, SIZE);
    if (rank == 1) {
        NCCL(ncclCommRegister(comm, x, PART / 2 * sizeof *x, &half));
        NCCL(ncclCommDeregister(comm, handle));
    }
    NCCL(ncclAllReduce(x, x, PART, ncclFloat, ncclSum, comm, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(!"ended");
}

/* From registered memory of rank 0 to other of rank 1. */
static void mixed_message(ncclUniqueId id, int rank)
{
    void *handle;
    float *x;

    open_all(id, rank);
    x = meet();
    if (rank == 0) {
        NCCL(ncclCommRegister(comm, x, PART * sizeof *x, &handle));
        NCCL(ncclSend(x, PART, ncclFloat, 1, comm, stream));
        NCCL(ncclCommDeregister(comm, handle));
    }
    if (rank == 1) {
        NCCL(ncclRecv(x, PART, ncclFloat, 0, comm, stream));
        CUDA(cudaStreamSynchronize(stream));
        CHECK(!"ended");
    }
    close_all();
}

static void left_registered(ncclUniqueId id, int rank)
{
    void *handle;
    float *x;

    open_all(id, rank);
    x = meet();
    NCCL(ncclCommRegister(comm, x, PART * sizeof *x, &handle));
    close_all();
    CHECK(!"ended");
}

/* ncclMemFree does not wait: not for a message that nobody sends, nor for what is queued behind. */
static void freed_early(ncclUniqueId id, int rank)
{
    float *x;

    open_all(id, rank);
    x = meet();
    if (rank == 1) {
        NCCL(ncclRecv(x, PART, ncclFloat, 0, comm, stream));
        CUDA(cudaMemsetAsync(x, 0, PART * sizeof *x, stream));
        NCCL(ncclMemFree(x));
        CHECK(ncclCommAbort(comm) == ncclSuccess);
        CUDA(cudaStreamSynchronize(stream));
        CHECK(!"ended");
    }
    close_all();
}

static void broken(ncclUniqueId id, int rank)
{
    ncclResult_t state = ncclSuccess;
    float *x;

    open_all(id, rank);
    x = device_floats(PART);
    for (int i = 0; i < 3; i++)
        NCCL(ncclAllReduce(x, x, PART, ncclFloat, ncclSum, comm, stream));
    CHECK(ncclAllReduce(x, x, PART, ncclFloat, ncclSum, comm, stream) == ncclSystemError);
    while (state == ncclSuccess) {
        CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
        CHECK(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
    }
    CHECK(state == ncclRemoteError);
    CHECK(ncclCommAbort(comm) == ncclSuccess);
    CUDA(cudaStreamSynchronize(stream));
}

/* ---- all ranks ---- */

/* Does what a rank wrote to `log` hold the text? */
static int wrote(FILE *log, const char *text)
{
    char line[256];
    int found = !*text;

    rewind(log);
    while (fgets(line, sizeof line, log)) {
        found |= strstr(line, text) != NULL;
        (void)fputs(line, stderr);
    }
    return found;
}

/* With a signal some rank ends by it; with a text one writes it to stderr. */
static int run(const char *name, void (*rank_of)(ncclUniqueId, int), int expected_signal,
               const char *text)
{
    FILE *log = tmpfile();
    ncclUniqueId id;
    pid_t children[SIZE];
    int failed = 0, signals = 0;
    char path[256];

    if (!log || ncclGetUniqueId(&id) != ncclSuccess)
        return 1;
    for (int r = 0; r < SIZE; r++) {
        children[r] = fork();
        if (children[r] == 0) {
            (void)alarm(20);
            if (dup2(fileno(log), STDERR_FILENO) < 0)
                _exit(1);
            rank_of(id, r);
            _exit(0);
        }
    }
    for (int r = 0; r < SIZE; r++) {
        int status = -1;

        (void)waitpid(-1, &status, 0);
        signals += WIFSIGNALED(status);
        if (WIFSIGNALED(status) ? WTERMSIG(status) != expected_signal : WEXITSTATUS(status) != 0) {
            (void)fprintf(stderr, "%s: a rank ended with status %#x\n", name, (unsigned)status);
            failed = 1;
        }
    }
    if (!wrote(log, text) || (expected_signal && !signals)) {
        (void)fprintf(stderr, "%s: no '%s', or no signal\n", name, text);
        failed = 1;
    }
    (void)fclose(log);
    (void)snprintf(path, sizeof path, "/dev/shm%s", id.internal);
    if (access(path, F_OK) == 0) {
        (void)fprintf(stderr, "%s: left %s\n", name, path);
        failed = 1;
    }
    (void)printf("%s %s\n", failed ? "FAILED" : "ok", name);
    (void)fflush(stdout);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = pipe(word);

    if (argc > 1 && strcmp(argv[1], "broken") == 0)
        return run("broken", broken, 0, ""); /* its environment makes calls fail */
    failed |= run("collectives", collectives, 0, "");
    failed |= run("halves", halves, 0, "");
    failed |= run("messages", messages, 0, "");
    failed |= run("late", late, 0, "");
    failed |= run("aborted", aborted, 0, "");
    failed |= run("killed", killed, SIGKILL, "");
    failed |= run("mixed sum", mixed_sum, SIGABRT, "ranks mix registered memory and other");
    failed |= run("mixed message", mixed_message, SIGABRT, "mixes registered memory and other");
    failed |=
        run("left registered", left_registered, SIGABRT, "ends that memory is registered with");
    failed |= run("freed early", freed_early, SIGSEGV, "");
    return failed;
}
