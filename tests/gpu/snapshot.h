/* Copies of a network's arrays, on the CPU or on a GPU, and distances between them. Compile with
 * the definitions of a build for GPUs. */
#ifndef GPU_SNAPSHOT_H
#define GPU_SNAPSHOT_H

#include <darknet.h>

/* PARAMETERS: weights, biases, scales. GRADIENTS: the parameters' gradients. STATISTICS:
 * BatchNorm's running statistics. DELTAS: what backward has left in each layer's delta, which is
 * the input delta of the layer behind it. */
enum snapshot_kind { PARAMETERS, GRADIENTS, STATISTICS, DELTAS, SNAPSHOT_KINDS };

typedef struct snapshot_array {
    int layer;
    const char *kind; /* the layer's type */
    int part;         /* index among the layers that a recurrent layer is made of; 0 for others */
    const char *name; /* name of the array in its layer, such as "weights" */
    size_t count;
    float *host, *device; /* the network's own array, on the CPU and on the GPU */
    const layer *in_bf16; /* layer whose delta this is, if the delta is in bf16; else NULL */
    float *copy;
} snapshot_array;

typedef struct snapshot {
    int on_gpu;
    size_t count;
    snapshot_array *arrays;
} snapshot;

/* List the arrays of net; the copies are zeros. net must outlive read and write. */
void snapshot_open(snapshot *s, network *net, enum snapshot_kind kind);
void snapshot_close(snapshot *s);

/* Copy the arrays of a layer, or of all with layer -1, out of the network. */
void snapshot_read(snapshot *s, int layer);

/* Write to s's network the copies of `from`, which lists the same arrays of another network. */
void snapshot_write(const snapshot *s, const snapshot *from);

typedef struct distance {
    double worst; /* largest |a - b| / |b| of one array; not a number counts as infinite */
    size_t array; /* index of the array with the distance `worst` */
} distance;

/* Return the distance of copies, by Euclidean norms. |b| counts as at least a tenth of the largest
 * of its layer's arrays, since an array whose true value is 0 has no relative error. If a0 and b0
 * are not NULL, it compares a - a0 with b - b0: how far each has moved. */
distance snapshot_distance(const snapshot *a, const snapshot *b, const snapshot *a0,
                           const snapshot *b0);

/* Return 1 if all copies have the same bits. */
int snapshot_same(const snapshot *a, const snapshot *b);

#endif
