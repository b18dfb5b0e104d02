/* emulated/cudnn_arrays.h: arrays of convolutions as NCHW floats. Floats are used where they lie;
 * an array of NHWC bf16 is converted to a copy, and a result back. */
#ifndef EMULATED_CUDNN_ARRAYS_H
#define EMULATED_CUDNN_ARRAYS_H

#include "convolve.h"
#include "cudnn.h"

#include <cstdint>
#include <vector>

namespace emulated
{

/* Size of an array: outer x channels x inner values; bf16 lie as outer x inner x channels. */
struct extent {
    size_t outer, channels, inner;
    bool bf16;

    size_t count() const
    {
        return outer * channels * inner;
    }
};

extent inputs_of(const shape &s);
extent outputs_of(const shape &s);
extent weights_of(const shape &s);

/* An array that a convolution reads, as NCHW floats; as_tf32: rounded to TF32. */
class operand
{
  public:
    operand(const void *x, const extent &size, bool as_tf32);
    operator const float *() const
    {
        return all;
    }

  private:
    std::vector<float> copy;
    const float *all;
};

/* Noise in a result: see `disturb` in emulated.h. on: last bits are changed; how: which ones. */
struct noise {
    bool on;
    uint64_t how;
};

/* An array that a convolution writes, as NCHW floats; keep not 0: it begins with x's values. */
class result
{
  public:
    result(void *x, const extent &size, float keep);
    operator float *()
    {
        return all;
    }
    /* Write the result to x, rounded to its type, with noise. Call once, at the end. */
    void give(noise rounding);

  private:
    void *to;
    extent size;
    std::vector<float> copy;
    float *all;
};

} // namespace emulated

#endif
