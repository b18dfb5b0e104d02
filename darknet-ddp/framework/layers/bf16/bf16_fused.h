/* layers/bf16/bf16_fused.h: functors for the kernel templates of bf16_channels.cu. They say where
 * outputs and deltas go: of a layer alone (own_*), or fused with the [shortcut] behind it
 * (shortcut_*).
 *
 * A value that would have gone from one layer to the other in memory is rounded to bf16. So a fused
 * layer computes the same bits as two layers. */
#ifndef BF16_FUSED_H
#define BF16_FUSED_H

#include "layers/bf16/bf16_values.h"

// Packs of two arrays at one place: a layer's input or output, and its delta.
template <int V> struct two_packs {
    pack<V> x, delta;
};

// Return f, rounded to bf16.
template <int V> static __device__ floats<V> rounded(floats<V> f)
{
    return unpacked(packed(f));
}

// Output of a layer alone: the normalized and activated value y.
struct own_output {
    template <int V> __device__ floats<V> operator()(floats<V> y, size_t) const
    {
        return y;
    }
};

// Output of the [shortcut], computed from y, the output of the layer before it.
struct shortcut_output {
    const bf16 *from;  // output of the layer that the [shortcut] adds
    float alpha, beta; // alpha: factor of y; beta: factor of `from`
    float slope;       // slope of the [shortcut]'s activation below 0; 1: linear

    template <int V> __device__ floats<V> operator()(floats<V> y, size_t i) const
    {
        curve curve = {LINEAR, slope};
        y = weighted_sum(alpha, rounded(y), beta, load_pack<V>(from, i));
#pragma unroll
        for (int k = 0; k < V; ++k)
            y.v[k] = apply_curve(curve, y.v[k]);
        return y;
    }
};

// Delta of a layer alone, read from memory.
struct own_delta {
    enum { AT_ONCE = VALUES_AT_ONCE };
    const bf16 *delta;

    template <int V> __device__ pack<V> load(size_t i) const
    {
        return pack_at<V>(delta, i);
    }
    template <int V> __device__ floats<V> take(size_t, pack<V> loaded) const
    {
        return unpacked(loaded);
    }
};

// Computes the delta of a fused layer from that of the [shortcut]. Also computes the delta of the
// layer whose output the [shortcut] adds.
struct shortcut_delta {
    // Half as many, since each is of two arrays: there are registers for no more.
    enum { AT_ONCE = VALUES_AT_ONCE / 2 };
    const bf16 *delta, *output; // the [shortcut]'s; output null: delta is taken as it is
    float slope;                // slope of the [shortcut]'s activation below 0
    float alpha, beta;          // factors of the fused layer's output and of the added layer's
    bf16 *from_delta;           // delta of the layer that is added; null: leave it as it is
    int set_from;               // 1: replace the values of from_delta; 0: add to them

    template <int V> __device__ two_packs<V> load(size_t i) const
    {
        pack<V> d = pack_at<V>(delta, i);
        return two_packs<V>{output ? pack_at<V>(output, i) : d, d};
    }
    template <int V> __device__ floats<V> take(size_t i, two_packs<V> loaded) const
    {
        curve curve = {LINEAR, slope};
        floats<V> d = unpacked(loaded.delta), y = unpacked(loaded.x), from;
#pragma unroll
        for (int k = 0; k < V; ++k) {
            if (output)
                d.v[k] *= curve_gradient(curve, y.v[k]);
            from.v[k] = beta * d.v[k];
            d.v[k] *= alpha;
        }
        if (from_delta)
            set_or_add_pack<V>(from_delta, i, from, set_from);
        return rounded(d);
    }
};

#endif
