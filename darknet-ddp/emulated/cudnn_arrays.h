/* emulated/cudnn_arrays.h: gives a program's arrays to convolve.h as NCHW floats. Arrays of NHWC
 * bf16 are converted to a copy and, if they are results, back. Also adds noise (noise.cpp). */
#ifndef EMULATED_CUDNN_ARRAYS_H
#define EMULATED_CUDNN_ARRAYS_H

#include "convolve.h"
#include "cudnn.h"

#include <cstdint>
#include <vector>

namespace emulated
{

/* Shape of an array: outer x channels x inner values, or outer x inner x channels with bf16. */
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

/* An array that a convolution reads, as NCHW floats. as_tf32: round them to TF32. */
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

/* Noise in a result: if `on`, flip_last_bits changes it with this seed (emulated.h). */
struct noise {
    bool on;
    uint64_t seed;
};

/* An array that a convolution writes, as NCHW floats. It begins with x's values or, with keep 0,
 * with undefined ones. write_back brings it to x. */
class result
{
  public:
    result(void *x, const extent &size, float keep);
    operator float *()
    {
        return all;
    }
    /* Write the result, with the noise `rounding` added, to x, rounded to x's type. Call once, at
     * the end. */
    void write_back(noise rounding);

  private:
    void *to;
    extent size;
    std::vector<float> copy;
    float *all;
};

} // namespace emulated

#endif
