/* Tests of the emulated cuBLAS and cuDNN against plain loops (values are small integers, so sums
 * are exact), of what cuDNN refuses, and of cuRAND's range and mean. */
#include <cublas_v2.h>
#include <cudnn.h>
#include <curand.h>

#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" {
#include <cmocka.h>
}

#define CALL(call) assert_int_equal(call, cudaSuccess)
#define DNN(call) assert_int_equal(call, CUDNN_STATUS_SUCCESS)

static float *device_floats(size_t count)
{
    void *x;

    CALL(cudaMalloc(&x, count * sizeof(float)));
    return (float *)x;
}

static void products_are_those_of_plain_loops(void **)
{
    enum { M = 37, N = 19, K = 300 }; /* C is M x N */
    std::vector<float> a(M * K), b(K * N), c(M * N);
    float *da = device_floats(M * K), *db = device_floats(K * N), *dc = device_floats(M * N);
    float one = 2, zero = 0;
    cublasHandle_t handle;

    assert_int_equal(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = (float)(i % 7) - 3;
    for (size_t i = 0; i < b.size(); i++)
        b[i] = (float)(i % 5) - 2;
    CALL(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    CALL(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
    for (int t = 0; t < 4; t++) {
        bool ta = t & 1, tb = t & 2;

        CALL(cudaMemset(dc, 0xff, c.size() * sizeof(float))); /* NaN */
        assert_int_equal(cublasSgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                                     tb ? CUBLAS_OP_T : CUBLAS_OP_N, M, N, K, &one, da, ta ? K : M,
                                     db, tb ? N : K, &zero, dc, M),
                         CUBLAS_STATUS_SUCCESS);
        CALL(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                float sum = 0;

                for (int k = 0; k < K; k++)
                    sum += 2 * a[ta ? k + K * i : i + M * k] * b[tb ? j + N * k : k + K * j];
                assert_true(c[i + M * j] == sum);
            }
    }
    CALL(cudaFree(da));
    CALL(cudaFree(db));
    CALL(cudaFree(dc));
    assert_int_equal(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

static void random_numbers_are_uniform_and_not_zero(void **)
{
    std::vector<float> x(10000);
    float *dx = device_floats(x.size());
    curandGenerator_t generator;
    double sum = 0;

    assert_int_equal(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT), 0);
    assert_int_equal(curandSetPseudoRandomGeneratorSeed(generator, 1), 0);
    assert_int_equal(curandGenerateUniform(generator, dx, x.size()), 0);
    CALL(cudaMemcpy(x.data(), dx, x.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float value : x) {
        assert_true(value > 0 && value <= 1);
        sum += value;
    }
    assert_true(sum > 4800 && sum < 5200);
    CALL(cudaFree(dx));
    assert_int_equal(curandDestroyGenerator(generator), 0);
}

/* ---- convolutions ---- */

enum {
    N = 2,
    GROUPS = 2,
    C = 3, /* of a group */
    K = 4, /* of a group */
    H = 9,
    W = 7,
    KERNEL = 3,
    PAD_H = 2,
    PAD_W = 1,
    STRIDE_H = 2,
    STRIDE_W = 1,
    DILATION_H = 2,
    DILATION_W = 1,
    OUT_H = 5, /* (9 + 4 - 5) / 2 + 1 */
    OUT_W = 7,
    INPUTS = N * GROUPS * C * H * W,
    OUTPUTS = N * GROUPS * K * OUT_H * OUT_W,
    WEIGHTS = GROUPS * K * C * KERNEL * KERNEL
};

/* A convolution of NCHW floats, or of NHWC bf16. */
struct problem {
    bool bf16;
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t x_tensor, y_tensor;
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t convolution;
    std::vector<float> x, y, w;
    float *dx, *dy, *dw, *workspace;
    size_t workspace_bytes = 1 << 20;

    explicit problem(bool of_bf16 = false);
    ~problem();
    void describe(cudnnTensorFormat_t format, cudnnDataType_t type);
    void push();
};

/* Nearest, ties to even. */
static float rounded_to_bf16(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Where the i-th value of outer x channels x inner ones is when the channels come last. */
static size_t place_of(size_t i, size_t channels, size_t inner)
{
    size_t o = i / (channels * inner), c = i / inner % channels;

    return (o * inner + i % inner) * channels + c;
}

static std::vector<float> small_integers(size_t count, int factor)
{
    std::vector<float> x(count);

    for (size_t i = 0; i < count; i++)
        x[i] = (float)((int)(i * 7 % 11) * factor % 9 - 4);
    return x;
}

problem::problem(bool of_bf16)
    : bf16(of_bf16), x(small_integers(INPUTS, 1)), y(small_integers(OUTPUTS, 5)),
      w(small_integers(WEIGHTS, 2))
{
    DNN(cudnnCreate(&handle));
    DNN(cudnnCreateTensorDescriptor(&x_tensor));
    DNN(cudnnCreateTensorDescriptor(&y_tensor));
    DNN(cudnnCreateFilterDescriptor(&filter));
    DNN(cudnnCreateConvolutionDescriptor(&convolution));
    describe(bf16 ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
             bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT);
    DNN(cudnnSetConvolution2dDescriptor(convolution, PAD_H, PAD_W, STRIDE_H, STRIDE_W, DILATION_H,
                                        DILATION_W, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    DNN(cudnnSetConvolutionGroupCount(convolution, GROUPS));
    dx = device_floats(x.size());
    dy = device_floats(y.size());
    dw = device_floats(w.size());
    workspace = device_floats(workspace_bytes / sizeof(float));
}

void problem::describe(cudnnTensorFormat_t format, cudnnDataType_t type)
{
    DNN(cudnnSetTensor4dDescriptor(x_tensor, format, type, N, GROUPS * C, H, W));
    DNN(cudnnSetTensor4dDescriptor(y_tensor, format, type, N, GROUPS * K, OUT_H, OUT_W));
    DNN(cudnnSetFilter4dDescriptor(filter, type, format, GROUPS * K, C, KERNEL, KERNEL));
}

problem::~problem()
{
    for (float *memory : {dx, dy, dw, workspace})
        (void)cudaFree(memory);
    (void)cudnnDestroyTensorDescriptor(x_tensor);
    (void)cudnnDestroyTensorDescriptor(y_tensor);
    (void)cudnnDestroyFilterDescriptor(filter);
    (void)cudnnDestroyConvolutionDescriptor(convolution);
    (void)cudnnDestroy(handle);
}

static void push_array(float *to, const std::vector<float> &from, bool bf16, size_t channels,
                       size_t inner)
{
    std::vector<uint16_t> halves(from.size());

    for (size_t i = 0; i < from.size(); i++) {
        uint32_t bits;

        memcpy(&bits, &from[i], sizeof bits);
        halves[place_of(i, channels, inner)] = (uint16_t)(bits >> 16);
    }
    if (bf16)
        CALL(cudaMemcpy(to, halves.data(), halves.size() * 2, cudaMemcpyHostToDevice));
    else
        CALL(cudaMemcpy(to, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice));
}

void problem::push()
{
    push_array(dx, x, bf16, GROUPS * C, H * W);
    push_array(dy, y, bf16, GROUPS * K, OUT_H * OUT_W);
    push_array(dw, w, bf16, C, KERNEL * KERNEL);
}

static std::vector<float> pulled(const float *from, size_t count, bool bf16 = false,
                                 size_t channels = 1, size_t inner = 1)
{
    std::vector<float> host(count);
    std::vector<uint16_t> halves(count);

    if (!bf16) {
        CALL(cudaMemcpy(host.data(), from, count * sizeof(float), cudaMemcpyDeviceToHost));
        return host;
    }
    CALL(cudaMemcpy(halves.data(), from, count * 2, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)halves[place_of(i, channels, inner)] << 16;

        memcpy(&host[i], &bits, sizeof bits);
    }
    return host;
}

/* Call visit(x index, w index, y index) for each product of the convolution. */
template <class Visit> static void for_products(Visit visit)
{
    for (int y = 0; y < OUTPUTS; y++) {
        int ow = y % OUT_W, oh = y / OUT_W % OUT_H, k = y / OUT_W / OUT_H % (GROUPS * K);
        int n = y / OUT_W / OUT_H / (GROUPS * K), group = k / K;

        for (int t = 0; t < C * KERNEL * KERNEL; t++) {
            int j = t % KERNEL, i = t / KERNEL % KERNEL, c = t / KERNEL / KERNEL;
            int row = oh * STRIDE_H - PAD_H + i * DILATION_H;
            int column = ow * STRIDE_W - PAD_W + j * DILATION_W;

            if (row >= 0 && row < H && column >= 0 && column < W)
                visit(((n * GROUPS * C + group * C + c) * H + row) * W + column,
                      k * C * KERNEL * KERNEL + t, y);
        }
    }
}

/* result = 2 sum + keep result */
static void expect(const std::vector<float> &found, const std::vector<float> &before,
                   const std::vector<float> &sum, float keep, bool bf16)
{
    for (size_t i = 0; i < found.size(); i++) {
        float wanted = 2 * sum[i] + (keep == 0 ? 0 : keep * before[i]);

        assert_true(found[i] == (bf16 ? rounded_to_bf16(wanted) : wanted));
    }
}

static const float two = 2, zero = 0, three = 3;

/* For every algorithm that both know of a direction, in both kinds of arrays. */
template <class Algorithm, class Check> static void for_kinds(Algorithm a, Algorithm b, Check check)
{
    for (bool bf16 : {false, true})
        for (const float *keep : {&zero, &three})
            for (Algorithm algorithm : {a, b}) {
                problem p(bf16);

                p.push();
                check(p, keep, algorithm);
            }
}

static void check_convolution(problem &p, const float *keep, cudnnConvolutionFwdAlgo_t algorithm)
{
    std::vector<float> sum(OUTPUTS);

    DNN(cudnnConvolutionForward(p.handle, &two, p.x_tensor, p.dx, p.filter, p.dw, p.convolution,
                                algorithm, p.workspace, p.workspace_bytes, keep, p.y_tensor, p.dy));
    for_products([&](int x, int w, int y) { sum[y] += p.x[x] * p.w[w]; });
    expect(pulled(p.dy, OUTPUTS, p.bf16, GROUPS * K, OUT_H * OUT_W), p.y, sum, *keep, p.bf16);
}

static void convolutions_are_those_of_plain_loops(void **)
{
    for_kinds(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
              check_convolution);
    for (const float *keep : {&zero, &three}) {
        problem floats(false), halves(true);

        floats.push();
        check_convolution(floats, keep, CUDNN_CONVOLUTION_FWD_ALGO_GEMM);
        halves.push();
        check_convolution(halves, keep, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
    }
}

static void input_deltas_are_those_of_plain_loops(void **)
{
    for_kinds(CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
              [](problem &p, const float *keep, cudnnConvolutionBwdDataAlgo_t algorithm) {
                  std::vector<float> sum(INPUTS);

                  DNN(cudnnConvolutionBackwardData(p.handle, &two, p.filter, p.dw, p.y_tensor, p.dy,
                                                   p.convolution, algorithm, p.workspace,
                                                   p.workspace_bytes, keep, p.x_tensor, p.dx));
                  for_products([&](int x, int w, int y) { sum[x] += p.y[y] * p.w[w]; });
                  expect(pulled(p.dx, INPUTS, p.bf16, GROUPS * C, H * W), p.x, sum, *keep, p.bf16);
              });
}

static void weight_gradients_are_those_of_plain_loops(void **)
{
    for_kinds(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
              [](problem &p, const float *keep, cudnnConvolutionBwdFilterAlgo_t algorithm) {
                  std::vector<float> sum(WEIGHTS);

                  DNN(cudnnConvolutionBackwardFilter(p.handle, &two, p.x_tensor, p.dx, p.y_tensor,
                                                     p.dy, p.convolution, algorithm, p.workspace,
                                                     p.workspace_bytes, keep, p.filter, p.dw));
                  for_products([&](int x, int w, int y) { sum[w] += p.x[x] * p.y[y]; });
                  expect(pulled(p.dw, WEIGHTS, p.bf16, C, KERNEL * KERNEL), p.w, sum, *keep,
                         p.bf16);
              });
}

static cudnnStatus_t convolve(const problem &p, cudnnConvolutionFwdAlgo_t algorithm)
{
    return cudnnConvolutionForward(p.handle, &two, p.x_tensor, p.dx, p.filter, p.dw, p.convolution,
                                   algorithm, p.workspace, p.workspace_bytes, &zero, p.y_tensor,
                                   p.dy);
}

/* cuDNN's own configurations: all arrays of one type, sums of bf16 in floats. */
static void types_and_layouts_that_do_not_go_together_are_refused(void **)
{
    const cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    problem p(true);
    size_t bytes;

    p.push();
    DNN(convolve(p, algorithm));
    DNN(cudnnSetFilter4dDescriptor(p.filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, GROUPS * K, C,
                                   KERNEL, KERNEL));
    assert_int_equal(convolve(p, algorithm), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(cudnnGetConvolutionBackwardFilterWorkspaceSize(
                         p.handle, p.x_tensor, p.y_tensor, p.convolution, p.filter,
                         CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, &bytes),
                     CUDNN_STATUS_BAD_PARAM);
    p.describe(CUDNN_TENSOR_NCHW, CUDNN_DATA_BFLOAT16);
    assert_int_equal(convolve(p, algorithm), CUDNN_STATUS_BAD_PARAM);
    p.describe(CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT);
    assert_int_equal(convolve(p, algorithm), CUDNN_STATUS_BAD_PARAM);
    p.describe(CUDNN_TENSOR_NHWC, CUDNN_DATA_BFLOAT16);
    assert_int_equal(convolve(p, CUDNN_CONVOLUTION_FWD_ALGO_GEMM), CUDNN_STATUS_BAD_PARAM);
    DNN(cudnnSetConvolution2dDescriptor(p.convolution, PAD_H, PAD_W, STRIDE_H, STRIDE_W, DILATION_H,
                                        DILATION_W, CUDNN_CROSS_CORRELATION, CUDNN_DATA_BFLOAT16));
    assert_int_equal(convolve(p, algorithm), CUDNN_STATUS_BAD_PARAM);
}

static void a_workspace_that_is_too_small_is_refused(void **)
{
    problem p;
    size_t bytes = 0;

    p.push();
    DNN(cudnnGetConvolutionForwardWorkspaceSize(p.handle, p.x_tensor, p.filter, p.convolution,
                                                p.y_tensor, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
                                                &bytes));
    assert_true(bytes > 0 && bytes <= p.workspace_bytes);
    assert_int_equal(cudnnConvolutionForward(p.handle, &two, p.x_tensor, p.dx, p.filter, p.dw,
                                             p.convolution, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
                                             p.workspace, bytes - 1, &zero, p.y_tensor, p.dy),
                     CUDNN_STATUS_BAD_PARAM);
}

static void descriptors_that_do_not_belong_together_are_refused(void **)
{
    problem p;

    DNN(cudnnSetTensor4dDescriptor(p.y_tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, GROUPS * K,
                                   OUT_H, OUT_W + 1));
    assert_int_equal(cudnnConvolutionForward(p.handle, &two, p.x_tensor, p.dx, p.filter, p.dw,
                                             p.convolution, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
                                             p.workspace, p.workspace_bytes, &zero, p.y_tensor,
                                             p.dy),
                     CUDNN_STATUS_BAD_PARAM);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_plain_loops),
        cmocka_unit_test(random_numbers_are_uniform_and_not_zero),
        cmocka_unit_test(convolutions_are_those_of_plain_loops),
        cmocka_unit_test(input_deltas_are_those_of_plain_loops),
        cmocka_unit_test(weight_gradients_are_those_of_plain_loops),
        cmocka_unit_test(types_and_layouts_that_do_not_go_together_are_refused),
        cmocka_unit_test(a_workspace_that_is_too_small_is_refused),
        cmocka_unit_test(descriptors_that_do_not_belong_together_are_refused),
    };

    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
