#include "glue/footprint.h"

#include <darknet.h>
#include <malloc.h>
#include <math.h>

int ddp_footprint_largest(const network *net, int *width, int *height)
{
    enum { MOST = 608 }; /* as train_detector draws them */
    const layer *last = &net->layers[net->n - 1];
    double step = net->resize_step;

    if (!last->random || (last->type != YOLO && last->type != REGION))
        return 0;
    *width = *height = MOST;
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

void ddp_footprint_measure(ddp_footprint *host, ddp_footprint *gpu, network *net, ddp_device *d,
                           size_t pictures)
{
    int w = net->w, h = net->h, step = net->resize_step > 0 ? net->resize_step : 32;
    double own = (double)w * h, more = (double)(w + step) * (h + step) - own;
    double a_pixel = 1 / more / net->batch, on_host, on_gpu;
    double before = gpu_bytes(d); /* on a GPU arrays only grow: later they stay as large */

    *host = (ddp_footprint){.images = net->batch, .own_pixels = own};
    (void)ddp_footprint_largest(net, &host->width, &host->height);
    *gpu = *host;
    (void)resize_network(net, w + step, h + step);
    on_host = host_bytes();
    on_gpu = gpu_bytes(d);
    (void)resize_network(net, w, h);
    host->used = host_bytes();
    gpu->used = before;
    host->per_pixel = (on_host - host->used) * a_pixel;
    gpu->per_pixel = (on_gpu - gpu->used) * a_pixel;
    host->samples = 2.0 * (double)pictures * net->c * sizeof(float);
}

double ddp_footprint_bytes(const ddp_footprint *f, int width, int height, int images)
{
    double pixels = (double)width * height;

    return f->used + f->per_pixel * (pixels * images - f->own_pixels * f->images)
           + f->samples * pixels;
}
