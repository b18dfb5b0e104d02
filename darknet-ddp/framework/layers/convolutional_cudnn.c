#include "convolutional_layer.h"

#ifdef CUDNN
#include "blas.h"
#include "cuda.h"
#include "layers/bf16/bf16_cuda.h"
#include "utils.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORKSPACE 2000000000
#define MAX_CANDIDATES 32
#define MAX_TIMED 3
#define TIMED_RUNS 2

/*
 * The algorithms of a convolution are chosen when its shape is met first, and the choice is kept: a
 * network that changes its size while it trains chooses once for each size. cuDNN's heuristics list
 * algorithms for the shape and the kind of GPU. The first MAX_TIMED that can be used are timed as
 * the layer will run them, and the fastest is chosen.
 *
 * Times and free memory differ from run to run and from rank to rank. So with cuda_deterministic
 * nothing is timed: the first algorithm that adds in a fixed order is chosen. For layers of floats
 * that may yet become bf16 the first that can be used is chosen.
 */
typedef struct {
    int device, batch, c, h, w, n, groups, size, stride_x, stride_y, dilation, pad, fp32_only,
        timed, deterministic, bf16;
} conv_shape;

typedef enum { FORWARD, BACKWARD_DATA, BACKWARD_FILTER, CONV_PASSES } conv_pass;

typedef struct {
    int algo;
    cudnnStatus_t status;
    size_t memory;
    cudnnDeterminism_t determinism;
    cudnnMathType_t math;
} candidate;

typedef struct {
    conv_shape shape;
    candidate best[CONV_PASSES];
} conv_choice;

// The arrays that algorithms are timed on: of the layer's sizes, with no meaning in them.
typedef struct {
    float *x, *y, *w, *workspace;
    size_t workspace_size;
} scratch;

static pthread_mutex_t choices_lock = PTHREAD_MUTEX_INITIALIZER;
static conv_choice *choices = 0;
static int choice_count = 0;

static float *try_alloc(size_t size)
{
    void *p = 0;
    if (cudaMalloc(&p, size) == cudaSuccess)
        return p;
    cudaGetLastError();
    return 0;
}

static void free_scratch(scratch s)
{
    cuda_free(s.x);
    cuda_free(s.y);
    cuda_free(s.w);
    cuda_free(s.workspace);
}

// 0: the device's memory has no room to time in
static int make_scratch(layer *l, scratch *s)
{
    size_t x = (size_t)l->inputs * (size_t)l->batch;
    size_t y = (size_t)l->outputs * (size_t)l->batch;
    s->x = try_alloc(x * sizeof(float));
    s->y = try_alloc(y * sizeof(float));
    s->w = try_alloc((size_t)l->nweights * sizeof(float));
    s->workspace = 0;
    s->workspace_size = MAX_WORKSPACE;
    while (s->workspace_size > 1000000 && !(s->workspace = try_alloc(s->workspace_size)))
        s->workspace_size /= 2;
    if (!s->x || !s->y || !s->w || !s->workspace) {
        free_scratch(*s);
        return 0;
    }
    fill_gpu((int)x, .5, s->x, 1);
    fill_gpu((int)y, .5, s->y, 1);
    fill_gpu(l->nweights, .5, s->w, 1);
    return 1;
}

static cudnnMathType_t used_math(layer *l, cudnnMathType_t math)
{
    if (bf16_runs(*l))
        return CUDNN_TENSOR_OP_MATH;
    return cuda_fp32_only ? CUDNN_FMA_MATH : math;
}

// cuDNN has a type for each pass, with the same members.
#define COPY_CANDIDATES(c, p, n)                                                                   \
    for (i = 0; i < (n); ++i)                                                                      \
        (c)[i] = (candidate)                                                                       \
        {                                                                                          \
            (p)[i].algo, (p)[i].status, (p)[i].memory, (p)[i].determinism, (p)[i].mathType         \
        }

// Make a list by a call of cuDNN. In bf16 it has algorithms for some shapes alone, and refuses the
// others with many kinds of error: the list is empty then.
#define LIST(call)                                                                                 \
    do {                                                                                           \
        cudnnStatus_t status = (call);                                                             \
        if (status != CUDNN_STATUS_SUCCESS && bf16_runs(*l))                                       \
            return 0;                                                                              \
        check_cudnn_at(status, #call, __FILE__, __LINE__);                                         \
    } while (0)

// Algorithms for a pass, at most MAX_CANDIDATES, as cuDNN's heuristics guess, fastest first. Return
// how many.
static int list_forward(layer *l, cudnnHandle_t h, candidate *c)
{
    int i, n = 0;
    cudnnConvolutionFwdAlgoPerf_t p[MAX_CANDIDATES];
    LIST(cudnnGetConvolutionForwardAlgorithm_v7(h, l->srcTensorDesc, l->weightDesc, l->convDesc,
                                                l->dstTensorDesc, MAX_CANDIDATES, &n, p));
    COPY_CANDIDATES(c, p, n);
    return n;
}

static int list_backward_data(layer *l, cudnnHandle_t h, candidate *c)
{
    int i, n = 0;
    cudnnConvolutionBwdDataAlgoPerf_t p[MAX_CANDIDATES];
    LIST(cudnnGetConvolutionBackwardDataAlgorithm_v7(h, l->weightDesc, l->ddstTensorDesc,
                                                     l->convDesc, l->dsrcTensorDesc, MAX_CANDIDATES,
                                                     &n, p));
    COPY_CANDIDATES(c, p, n);
    return n;
}

static int list_backward_filter(layer *l, cudnnHandle_t h, candidate *c)
{
    int i, n = 0;
    cudnnConvolutionBwdFilterAlgoPerf_t p[MAX_CANDIDATES];
    LIST(cudnnGetConvolutionBackwardFilterAlgorithm_v7(h, l->srcTensorDesc, l->ddstTensorDesc,
                                                       l->convDesc, l->dweightDesc, MAX_CANDIDATES,
                                                       &n, p));
    COPY_CANDIDATES(c, p, n);
    return n;
}

static int list_candidates(layer *l, conv_pass pass, candidate *c)
{
    cudnnHandle_t h = cudnn_handle();
    check_cudnn(cudnnSetConvolutionMathType(l->convDesc, used_math(l, CUDNN_DEFAULT_MATH)));
    if (pass == FORWARD)
        return list_forward(l, h, c);
    if (pass == BACKWARD_DATA)
        return list_backward_data(l, h, c);
    return list_backward_filter(l, h, c);
}

// A list may name an algorithm that cuDNN then refuses. Of one that it takes, memory and math are
// set to what it will use.
static int is_taken(layer *l, conv_pass pass, candidate *c)
{
    cudnnStatus_t status;
    cudnnHandle_t h = cudnn_handle();
    c->math = used_math(l, c->math);
    check_cudnn(cudnnSetConvolutionMathType(l->convDesc, c->math));
    if (pass == FORWARD)
        status = cudnnGetConvolutionForwardWorkspaceSize(
            h, l->srcTensorDesc, l->weightDesc, l->convDesc, l->dstTensorDesc, c->algo, &c->memory);
    else if (pass == BACKWARD_DATA)
        status = cudnnGetConvolutionBackwardDataWorkspaceSize(h, l->weightDesc, l->ddstTensorDesc,
                                                              l->convDesc, l->dsrcTensorDesc,
                                                              c->algo, &c->memory);
    else
        status = cudnnGetConvolutionBackwardFilterWorkspaceSize(
            h, l->srcTensorDesc, l->ddstTensorDesc, l->convDesc, l->dweightDesc, c->algo,
            &c->memory);
    return status == CUDNN_STATUS_SUCCESS;
}

// Run a pass as the layer runs it: an input delta may be added to another's, and weight gradients
// of floats are added up.
static cudnnStatus_t run_pass(layer *l, conv_pass pass, const candidate *c, const scratch *s)
{
    cudnnHandle_t h = cudnn_handle();
    float one = 1, zero = 0, keep = !bf16_runs(*l);
    check_cudnn(cudnnSetConvolutionMathType(l->convDesc, c->math));
    if (pass == FORWARD)
        return cudnnConvolutionForward(h, &one, l->srcTensorDesc, s->x, l->weightDesc, s->w,
                                       l->convDesc, c->algo, s->workspace, s->workspace_size, &zero,
                                       l->dstTensorDesc, s->y);
    if (pass == BACKWARD_DATA)
        return cudnnConvolutionBackwardData(h, &one, l->weightDesc, s->w, l->ddstTensorDesc, s->y,
                                            l->convDesc, c->algo, s->workspace, s->workspace_size,
                                            &one, l->dsrcTensorDesc, s->x);
    return cudnnConvolutionBackwardFilter(h, &one, l->srcTensorDesc, s->x, l->ddstTensorDesc, s->y,
                                          l->convDesc, c->algo, s->workspace, s->workspace_size,
                                          &keep, l->dweightDesc, s->w);
}

// Milliseconds, or a negative number: cuDNN refuses it. The first run, which loads it, is not
// timed.
static float time_of(layer *l, conv_pass pass, const candidate *c, const scratch *s)
{
    int i;
    float ms = 0;
    cudaEvent_t begin, end;
    check_error(cudaEventCreate(&begin));
    check_error(cudaEventCreate(&end));
    for (i = 0; i <= TIMED_RUNS && ms >= 0; ++i) {
        if (i == 1)
            check_error(cudaEventRecord(begin, 0));
        if (run_pass(l, pass, c, s) != CUDNN_STATUS_SUCCESS) {
            ms = -1;
            cudaGetLastError(); // or the next call would report it
        }
    }
    check_error(cudaEventRecord(end, 0));
    check_error(cudaEventSynchronize(end));
    if (ms >= 0)
        check_error(cudaEventElapsedTime(&ms, begin, end));
    check_error(cudaEventDestroy(begin));
    check_error(cudaEventDestroy(end));
    return ms;
}

// Its place, or -1: cuDNN refuses all.
static int fastest_of(layer *l, conv_pass pass, const candidate *c, int n, const scratch *s)
{
    int i, best = -1;
    float least = 0;
    for (i = 0; i < n; ++i) {
        float ms = time_of(l, pass, c + i, s);
        if (ms >= 0 && (best < 0 || ms < least)) {
            least = ms;
            best = i;
        }
    }
    return best;
}

// List the algorithms that may be used, in cuDNN's order, at most `most`. Without TF32, those that
// compute with it are listed only if there are no others. Return how many.
static int list_usable(layer *l, conv_pass pass, size_t limit, candidate *usable, int most)
{
    candidate c[MAX_CANDIDATES];
    int i, strict, found = 0, n = list_candidates(l, pass, c);
    for (strict = cuda_fp32_only && !bf16_runs(*l); strict >= 0 && !found; --strict) {
        for (i = 0; i < n && found < most; ++i) {
            candidate best = c[i];
            if (best.status != CUDNN_STATUS_SUCCESS)
                continue;
            if (cuda_deterministic && best.determinism != CUDNN_DETERMINISTIC)
                continue;
            if (strict && best.math != CUDNN_FMA_MATH)
                continue;
            if (!is_taken(l, pass, &best) || best.memory > limit)
                continue;
            usable[found++] = best;
        }
    }
    return found;
}

// s: to time in, or 0. Return 0: there is none.
static int choose(layer *l, conv_pass pass, const scratch *s, candidate *chosen)
{
    candidate usable[MAX_TIMED];
    int n = list_usable(l, pass, s ? s->workspace_size : MAX_WORKSPACE, usable, s ? MAX_TIMED : 1);
    int best = n && s ? fastest_of(l, pass, usable, n, s) : 0;
    if (!n || (best < 0 && bf16_runs(*l)))
        return 0;
    *chosen = usable[best < 0 ? 0 : best];
    return 1;
}

// The pass that there is no algorithm for, or CONV_PASSES. limit: of workspace
static int choose_all(layer *l, int timed, conv_choice *choice, size_t *limit)
{
    scratch s;
    int pass, found = timed && make_scratch(l, &s);
    for (pass = FORWARD; pass < CONV_PASSES; ++pass)
        if (!choose(l, pass, found ? &s : 0, choice->best + pass))
            break;
    *limit = found ? s.workspace_size : MAX_WORKSPACE;
    if (found)
        free_scratch(s);
    return pass;
}

// must: the run ends where there is none; else 0 says so
static int choose_algorithms(layer *l, int must)
{
    static const char *what[] = {"the forward pass", "the input delta", "the weight gradient"};
    size_t limit;
    int i, pass = CONV_PASSES, timed = !cuda_deterministic && (!bf16_wanted || l->bf16);
    conv_shape shape = {cuda_get_device(),
                        l->batch,
                        l->c,
                        l->h,
                        l->w,
                        l->n,
                        l->groups,
                        l->size,
                        l->stride_x,
                        l->stride_y,
                        l->dilation,
                        l->pad,
                        cuda_fp32_only,
                        timed,
                        cuda_deterministic,
                        bf16_runs(*l)};
    pthread_mutex_lock(&choices_lock);
    for (i = 0; i < choice_count; ++i) {
        if (memcmp(&choices[i].shape, &shape, sizeof(shape)) == 0)
            break;
    }
    if (i == choice_count) {
        conv_choice choice = {.shape = shape};
        pass = choose_all(l, timed, &choice, &limit);
        if (pass < CONV_PASSES && must)
            fatal("cuDNN has no %salgorithm for %s of a convolution that needs at most %zu MB of "
                  "workspace",
                  cuda_deterministic ? "deterministic " : "", what[pass], limit / 1000000);
        if (pass == CONV_PASSES) {
            choices = realloc(choices, (size_t)++choice_count * sizeof(conv_choice));
            choices[i] = choice;
        }
    }
    conv_choice c = {0};
    if (pass == CONV_PASSES)
        c = choices[i];
    pthread_mutex_unlock(&choices_lock);
    if (pass < CONV_PASSES)
        return 0;

    l->fw_algo = c.best[FORWARD].algo;
    l->bd_algo = c.best[BACKWARD_DATA].algo;
    l->bf_algo = c.best[BACKWARD_FILTER].algo;
    l->fw_math = c.best[FORWARD].math;
    l->bd_math = c.best[BACKWARD_DATA].math;
    l->bf_math = c.best[BACKWARD_FILTER].math;
    l->workspace_size = 0;
    for (i = 0; i < CONV_PASSES; ++i) {
        if (c.best[i].memory > l->workspace_size)
            l->workspace_size = c.best[i].memory;
    }
    if (bf16_runs(*l) && bf16_sums_bytes(*l) > l->workspace_size)
        l->workspace_size = bf16_sums_bytes(*l);
    return 1;
}

static void create_descriptors(layer *l)
{
    if (l->convDesc)
        return;
    check_cudnn(cudnnCreateTensorDescriptor(&l->srcTensorDesc));
    check_cudnn(cudnnCreateTensorDescriptor(&l->dstTensorDesc));
    check_cudnn(cudnnCreateFilterDescriptor(&l->weightDesc));
    check_cudnn(cudnnCreateTensorDescriptor(&l->dsrcTensorDesc));
    check_cudnn(cudnnCreateTensorDescriptor(&l->ddstTensorDesc));
    check_cudnn(cudnnCreateFilterDescriptor(&l->dweightDesc));
    check_cudnn(cudnnCreateConvolutionDescriptor(&l->convDesc));
}

// After a change of the layer's sizes, or of its type: its descriptors, algorithms and
// workspace_size.
static int setup(layer *l, int must)
{
    int bf16 = bf16_runs(*l);
    cudnnDataType_t type = bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
    cudnnTensorFormat_t format = bf16 ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    create_descriptors(l);
    check_cudnn(
        cudnnSetTensor4dDescriptor(l->dsrcTensorDesc, format, type, l->batch, l->c, l->h, l->w));
    check_cudnn(cudnnSetTensor4dDescriptor(l->ddstTensorDesc, format, type, l->batch, l->out_c,
                                           l->out_h, l->out_w));
    check_cudnn(
        cudnnSetTensor4dDescriptor(l->srcTensorDesc, format, type, l->batch, l->c, l->h, l->w));
    check_cudnn(cudnnSetTensor4dDescriptor(l->dstTensorDesc, format, type, l->batch, l->out_c,
                                           l->out_h, l->out_w));
    check_cudnn(cudnnSetFilter4dDescriptor(l->dweightDesc, type, format, l->n, l->c / l->groups,
                                           l->size, l->size));
    check_cudnn(cudnnSetFilter4dDescriptor(l->weightDesc, type, format, l->n, l->c / l->groups,
                                           l->size, l->size));
    check_cudnn(cudnnSetConvolution2dDescriptor(l->convDesc, l->pad, l->pad, l->stride_y,
                                                l->stride_x, l->dilation, l->dilation,
                                                CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    check_cudnn(cudnnSetConvolutionGroupCount(l->convDesc, l->groups));
    return choose_algorithms(l, must);
}

void cudnn_convolutional_setup(layer *l)
{
    if (gpu_index >= 0)
        setup(l, 1);
}

int try_cudnn_convolutional_setup(layer *l)
{
    return setup(l, 0);
}
#endif
