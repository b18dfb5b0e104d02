/* Times of one loader thread, for scripts/bench-loader: bench_loader LIST KIND IMAGES.
 * Prints milliseconds of CPU time an image, images a second of one core, and a checksum of all
 * tensors. */
#include <darknet.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 16 };

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* FNV-1a over the bits of each value. */
static uint64_t checksum(uint64_t sum, matrix m)
{
    for (int i = 0; i < m.rows; i++) {
        for (int j = 0; j < m.cols; j++) {
            uint32_t bits;

            memcpy(&bits, &m.vals[i][j], sizeof bits);
            sum = (sum ^ bits) * 1099511628211u;
        }
    }
    return sum;
}

/* As cfg/yolov3.cfg, a mosaic of YOLOv4 and cfg/resnet50.cfg ask for pictures. */
static load_args args_of(const char *kind)
{
    static char *labels[] = {"/", "?", NULL};
    load_args a = {.threads = 1,
                   .n = BATCH,
                   .classes = 80,
                   .num_boxes = 90,
                   .w = 416,
                   .h = 416,
                   .jitter = .3F,
                   .hue = .1F,
                   .saturation = 1.5F,
                   .exposure = 1.5F,
                   .type = DETECTION_DATA};

    if (!strcmp(kind, "classifier")) {
        a.type = CLASSIFICATION_DATA;
        a.labels = labels;
        a.classes = 2;
        a.size = 224;
        a.min = 256;
        a.max = 480;
        a.angle = 7;
        a.aspect = .75F;
    } else if (!strcmp(kind, "mosaic")) {
        a.rules.forks = a.rules.mosaic = 1;
        a.rules.resize = 1.5F;
    }
    return a;
}

int main(int argc, char **argv)
{
    int images = argc == 4 ? atoi(argv[3]) : 0, loaded = 0;
    list *lines = images > 0 ? get_paths(argv[1]) : NULL;
    uint64_t sum = 1469598103934665603u;
    double seconds = 0;
    data batch = {0};
    load_args a;

    if (!lines) {
        fprintf(stderr, "usage: bench_loader LIST detector|mosaic|classifier IMAGES\n");
        return 2;
    }
    a = args_of(argv[2]);
    a.paths = (char **)list_to_array(lines);
    a.m = lines->size;
    a.d = &batch;
    srand(5);
    for (; loaded < images; loaded += BATCH) {
        double began = cpu_s();

        if (pthread_join(load_data(a), NULL))
            return 1;
        seconds += cpu_s() - began;
        sum = checksum(checksum(sum, batch.X), batch.y);
        free_data(batch);
    }
    printf("%-10s %7.2f ms an image, %6.0f images/s a core, %016llx\n", argv[2],
           seconds / loaded * 1e3, loaded / seconds, (unsigned long long)sum);
    return 0;
}
