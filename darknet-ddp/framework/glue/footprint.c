#include "glue/footprint.h"

#include <darknet.h>
#include <malloc.h>
#include <math.h>

int ddp_footprint_largest(const network *net, int *width, int *height)
{
    /* as train_detector and train_classifier draw them */
    enum { MOST_OF_DETECTOR = 608, MOST_OF_CLASSIFIER = 448 };
    const layer *last = &net->layers[net->n - 1];
    int is_detector = last->type == YOLO || last->type == REGION;
    double step = net->resize_step;

    if (is_detector ? !last->random : !net->random)
        return 0;
    *width = *height = is_detector ? MOST_OF_DETECTOR : MOST_OF_CLASSIFIER;
    if (last->yolo.v4) { /* as train_draw_size does */
        *width = (int)(round((double)last->yolo.random * net->cfg_w / step + 1) * step);
        *height = (int)(round((double)last->yolo.random * net->cfg_h / step + 1) * step);
    }
    return 1;
}

static double host_bytes(void)
{
    struct mallinfo2 now = mallinfo2();

    return (double)now.uordblks + (double)now.hblkhd;
}

static double gpu_bytes(ddp_device *d)
{
    size_t used, total;

    ddp_device_memory(d, &used, &total);
    return (double)used;
}

enum { IN_THREAD = 4 }; /* pictures that a thread that loads them holds, or keeps freed */

static double loaders(size_t pictures)
{
    size_t threads = (size_t)train_threads(64); /* as train_detector and train_classifier ask */

    return (double)(threads < pictures ? threads : pictures);
}

void ddp_footprint_measure(ddp_footprint *host, ddp_footprint *gpu, network *net, ddp_device *d,
                           size_t pictures)
{
    int w = net->w, h = net->h, step = net->resize_step > 0 ? net->resize_step : 32;
    double own = (double)w * h, more = (double)(w + step) * (h + step) - own;
    double a_pixel = 1 / more / net->batch;

    *host = (ddp_footprint){.images = net->batch, .pixels = own};
    (void)ddp_footprint_largest(net, &host->width, &host->height);
    *gpu = *host;
    host->used = host_bytes();
    gpu->used = gpu_bytes(d);
    (void)resize_network(net, w + step, h + step);
    host->per_pixel = (host_bytes() - host->used) * a_pixel;
    gpu->per_pixel = (gpu_bytes(d) - gpu->used) * a_pixel;
    (void)resize_network(net, w, h); /* arrays keep the larger size */
    host->loaded_per_pixel =
        (2.0 * (double)pictures + IN_THREAD * loaders(pictures)) * net->c * sizeof(float);
}

void ddp_footprint_take_largest(ddp_footprint *host, ddp_footprint *gpu, network *net,
                                ddp_device *d)
{
    int w = net->w, h = net->h;
    double pixels = (double)host->width * host->height;

    resize_takes_pages = 1;
    (void)resize_network(net, host->width, host->height);
    resize_takes_pages = 0;
    if (pixels > host->pixels) { /* else arrays are larger than this size needs */
        host->pixels = gpu->pixels = pixels;
        host->used = host_bytes();
        gpu->used = gpu_bytes(d);
    }
    (void)resize_network(net, w, h);
}

double ddp_footprint_bytes(const ddp_footprint *f, int width, int height, int images)
{
    double pixels = (double)width * height;

    return f->used + f->per_pixel * (pixels * images - f->pixels * f->images)
           + f->loaded_per_pixel * pixels;
}
