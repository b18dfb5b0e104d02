/* What convolutions read and write: NCHW floats where they lie, or NHWC bf16, of which they work on
 * a copy as NCHW floats. */
#ifndef EMULATED_CUDNN_ARRAYS_H
#define EMULATED_CUDNN_ARRAYS_H

#include "convolve.h"
#include "cudnn.h"

#include <cstdint>
#include <vector>

namespace emulated
{

/* outer x channels x inner values; of bf16 the channels come last. */
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

/* One side of a product, as it is read. */
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

/* Last bits that are other ones. */
struct noise {
    bool on;
    uint64_t how;
};

/* What a convolution makes. It begins as what was there where some of that is kept. */
class result
{
  public:
    result(void *x, const extent &size, float keep);
    operator float *()
    {
        return all;
    }
    /* Rounded to its type, to where it belongs. */
    void give(noise rounding);

  private:
    void *to;
    extent size;
    std::vector<float> copy;
    float *all;
};

} // namespace emulated

#endif
