/* ddp-test: quick */
/* What random=1's largest size takes is foreseen, and layers' memory is taken for it once: then all
 * of it is there, and stays where it is at any size. Layers in bf16 leave no holes in the heap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/device.h"
#include "glue/bf16.h"
#include "glue/footprint.h"
#include "net.h"

#include <layers/bf16/host.h>
#include <malloc.h>
#include <stdlib.h>

enum { LARGEST = 608, ARRAYS = 64 };

static const char cfg[] =
    "[net]\nwidth=416\nheight=416\nchannels=3\nbatch=2\nsubdivisions=1\n"
    "[convolutional]\nfilters=8\nsize=3\nstride=2\npad=1\nbatch_normalize=1\nactivation=mish\n"
    "[maxpool]\nsize=2\nstride=2\n"
    "[convolutional]\nfilters=8\nsize=3\nstride=1\npad=1\nactivation=leaky\n"
    "[shortcut]\nfrom=-2\nactivation=linear\n"
    "[upsample]\nstride=2\n"
    "[route]\nlayers=-1,-5\n"
    "[convolutional]\nfilters=7\nsize=1\nactivation=linear\n"
    "[yolo]\nmask=0\nanchors=12,12\nclasses=2\nnum=1\nrandom=1\n";

/* Write the places of all arrays that depend on the size to all, and return how many. */
static int list_arrays(const network *net, void *all[ARRAYS])
{
    int n = 0;

    all[n++] = net->workspace;
    for (int i = 0; i < net->n; i++) {
        const layer *l = &net->layers[i];
        void *some[] = {l->output, l->delta, l->x, l->indexes, l->activation_input};

        for (size_t k = 0; k < sizeof some / sizeof *some && n < ARRAYS; k++)
            if (some[k])
                all[n++] = some[k];
    }
    return n;
}

/* Return how many of the pages that lie wholly in array x are not in memory. */
static size_t count_missing(void *x)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)x;
    uintptr_t end = (first + malloc_usable_size(x)) / page * page;
    size_t missing = 0;
    unsigned char is_there;

    for (first = (first + page - 1) / page * page; first < end; first += page) {
        assert_int_equal(mincore((void *)first, page, &is_there), 0);
        missing += !(is_there & 1);
    }
    return missing;
}

static void check_all_there(void *const arrays[ARRAYS], int n)
{
    size_t missing = 0;

    for (int i = 0; i < n; i++)
        missing += count_missing(arrays[i]);
    assert_int_equal(missing, 0);
}

static double allocated(void)
{
    struct mallinfo2 now = mallinfo2();

    return (double)now.uordblks + (double)now.hblkhd;
}

static void memory_is_taken_for_the_largest_size_once(void **state)
{
    static const int sizes[] = {LARGEST, 320, 64, LARGEST, 96, LARGEST};
    network *net = net_parse(cfg);
    ddp_footprint host, gpu;
    void *taken[ARRAYS], *now[ARRAYS];
    int n;

    (void)state;
    ddp_footprint_measure(&host, &gpu, net, ddp_device_host(), 0);
    assert_int_equal(host.width, LARGEST);
    assert_int_equal(host.height, LARGEST);
    ddp_footprint_take_largest(&host, &gpu, net, ddp_device_host());
    assert_int_equal(net->w, 416);
    n = list_arrays(net, taken);
    check_all_there(taken, n);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        (void)resize_network(net, sizes[i], sizes[i]);
        assert_int_equal(list_arrays(net, now), n);
        assert_memory_equal(now, taken, (size_t)n * sizeof *now);
    }
    check_all_there(now, n);
    free_network(net);
}

static void the_largest_size_takes_what_was_foreseen(void **state)
{
    network *net = net_parse(cfg);
    ddp_footprint host, gpu;
    double foreseen, taken;

    (void)state;
    ddp_footprint_measure(&host, &gpu, net, ddp_device_host(), 0);
    foreseen = ddp_footprint_bytes(&host, LARGEST, LARGEST, net->batch);
    (void)resize_network(net, LARGEST, LARGEST);
    taken = allocated();
    assert_true(taken > 20e6);
    assert_true(foreseen > .98 * taken && foreseen < 1.02 * taken);
    free_network(net);
}

/* Holes in the heap stay resident, and no forecast counts them. */
static void resizes_in_bf16_leave_no_holes(void **state)
{
    network *net;
    ddp_footprint host, gpu;
    int all;

    (void)state;
    bf16_emulated = 1;
    if (ddp_bf16_missing(1)) /* a build without oneDNN */
        skip();
    ddp_bf16_use(1);
    net = net_parse(cfg);
    ddp_bf16_use(0);
    assert_true(ddp_bf16_count(net, &all) > 0);
    ddp_footprint_measure(&host, &gpu, net, ddp_device_host(), 0);
    ddp_footprint_take_largest(&host, &gpu, net, ddp_device_host());
    assert_true((double)mallinfo2().fordblks < .03 * allocated());
    free_network(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(resizes_in_bf16_leave_no_holes),
                                       cmocka_unit_test(memory_is_taken_for_the_largest_size_once),
                                       cmocka_unit_test(the_largest_size_takes_what_was_foreseen)};

    return cmocka_run_group_tests_name("footprint", tests, NULL, NULL);
}
