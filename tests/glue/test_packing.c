/* ddp-test: quick */
/* Packing of bf16 weights (layers/onednn/packing.c), beside the place of each number by its layout.
 */
#define DNNL 1 /* built where oneDNN is installed: tests/CMakeLists.txt */
#include "layers/onednn/handle.h"

#include "../unit/numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { UNWRITTEN = 0x7fc1 };

/* Return where a layout has a number; at: its filter, channel, row and column. */
static size_t place(const onednn_blocks *b, const int at[4])
{
    size_t sum = 0, inner = 1;
    int rest[4];

    memcpy(rest, at, sizeof rest);
    for (int i = b->count - 1; i >= 0; i--) {
        const int d = (int)b->dimensions[i], size = (int)b->sizes[i];

        sum += (size_t)(rest[d] % size) * inner;
        rest[d] /= size;
        inner *= (size_t)size;
    }
    for (int d = 0; d < 4; d++)
        sum += (size_t)rest[d] * (size_t)b->strides[d];
    return sum;
}

static float weight_of(const convolution_shape *s, const int at[4])
{
    return (float)(((at[0] * s->channels + at[1]) * s->size + at[2]) * s->size + at[3]) / 3;
}

/* Round to the nearest bf16, ties to even. */
static unsigned short half_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float *weights_of(const convolution_shape *s)
{
    float *weights =
        test_malloc((size_t)(s->filters * s->channels * s->size * s->size) * sizeof *weights);
    float *next = weights;

    for (int f = 0; f < s->filters; f++)
        for (int c = 0; c < s->channels; c++)
            for (int y = 0; y < s->size; y++)
                for (int x = 0; x < s->size; x++)
                    *next++ = weight_of(s, (const int[]){f, c, y, x});
    return weights;
}

/* Expect each number at its place, and zeros where the layout is larger than the shape. */
static void expect_packed(const convolution_shape *s, const onednn_blocks *b, int is_turned,
                          const unsigned short *packed)
{
    int at[4];

    for (at[0] = 0; at[0] < b->padded[0]; at[0]++)
        for (at[1] = 0; at[1] < b->padded[1]; at[1]++)
            for (at[2] = 0; at[2] < s->size; at[2]++)
                for (at[3] = 0; at[3] < s->size; at[3]++) {
                    const int of[4] = {at[is_turned], at[!is_turned], at[2], at[3]};
                    const int is_weight = of[0] < s->filters && of[1] < s->channels;

                    assert_int_equal(packed[place(b, at)],
                                     is_weight ? half_of(weight_of(s, of)) : 0);
                }
}

static void expect_packing(const convolution_shape *s, dnnl_format_tag_t tag, int is_turned)
{
    const int first = is_turned ? s->channels : s->filters;
    const int second = is_turned ? s->filters : s->channels;
    const dnnl_dims_t sizes = {first, second, s->size, s->size};
    onednn_layout layout = onednn_make_layout(4, sizes, dnnl_bf16, tag);
    const size_t count = dnnl_memory_desc_get_size(layout) / sizeof(unsigned short);
    float *weights = weights_of(s);
    unsigned short *packed = test_malloc((count + 1) * sizeof *packed);
    onednn_blocks b;

    for (size_t i = 0; i <= count; i++)
        packed[i] = UNWRITTEN;
    assert_int_equal(onednn_pack_pairs(s, layout, is_turned, weights, packed), 1);
    assert_int_equal(onednn_find_blocks(layout, &b), 1);
    expect_packed(s, &b, is_turned, packed);
    assert_int_equal(packed[count], UNWRITTEN);
    onednn_free_layout(layout);
    test_free(weights);
    test_free(packed);
}

static const dnnl_format_tag_t tags[] = {
    dnnl_AcdB32a2b,   dnnl_AcdB48a2b,    dnnl_AcdB64a2b,    dnnl_ABcd8a16b2a,
    dnnl_ABcd8b16a2b, dnnl_ABcd16b64a2b, dnnl_ABcd16a16b2a, dnnl_BAcd8a16b2a,
};

static convolution_shape shape(int filters, int channels, int size)
{
    return (convolution_shape){
        .filters = filters, .channels = channels, .size = size, .groups = 1, .bf16 = 1};
}

static void each_weight_is_rounded_and_lies_where_its_layout_says(void **state)
{
    const int counts[][2] = {{64, 32}, {1, 1}, {33, 17}, {255, 64}, {40, 600}, {3, 301}};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (int size = 1; size <= 3; size++)
            for (size_t t = 0; t < sizeof tags / sizeof tags[0]; t++) {
                const convolution_shape s = shape(counts[i][0], counts[i][1], size);

                expect_packing(&s, tags[t], 0);
                expect_packing(&s, tags[t], 1);
            }
}

static void other_shapes_and_layouts_are_left_to_onednn(void **state)
{
    const dnnl_dims_t sizes = {4, 4, 5, 5};
    onednn_layout in_pairs = onednn_make_layout(4, sizes, dnnl_bf16, dnnl_ABcd8a16b2a);
    onednn_layout plain = onednn_make_layout(4, sizes, dnnl_bf16, dnnl_oihw);
    convolution_shape large = shape(4, 4, 5), groups = shape(4, 4, 3), any = shape(4, 4, 3);

    (void)state;
    groups.groups = 2;
    assert_int_equal(onednn_pack_pairs(&large, in_pairs, 0, NULL, NULL), 0);
    assert_int_equal(onednn_pack_pairs(&groups, in_pairs, 0, NULL, NULL), 0);
    assert_int_equal(onednn_pack_pairs(&any, plain, 0, NULL, NULL), 0);
    onednn_free_layout(in_pairs);
    onednn_free_layout(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_weight_is_rounded_and_lies_where_its_layout_says),
        cmocka_unit_test(other_shapes_and_layouts_are_left_to_onednn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
