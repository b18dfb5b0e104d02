/* The arrays of convolutions: NCHW floats where they lie, or NHWC bf16, of which convolutions work
 * on a copy as NCHW floats. */
#ifndef EMULATED_CUDNN_ARRAYS_H
#define EMULATED_CUDNN_ARRAYS_H

#include "convolve.h"
#include "cudnn.h"

#include <cstdint>
#include <vector>

namespace emulated
{

/* Size of an array: outer x channels x inner values. In bf16 the channels come last. */
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

/* An array that a convolution reads, as floats. */
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

/* Whether to change the last bits of a result, and which. */
struct noise {
    bool on;
    uint64_t how;
};

/* An array that a convolution writes, as floats. It begins as what was there if some of that is
 * kept. */
class result
{
  public:
    result(void *x, const extent &size, float keep);
    operator float *()
    {
        return all;
    }
    /* Round the result to its type and write it to where it belongs. */
    void give(noise rounding);

  private:
    void *to;
    extent size;
    std::vector<float> copy;
    float *all;
};

} // namespace emulated

#endif
