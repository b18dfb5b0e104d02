/* For tests of what a program launches, at sizes that the emulated device would take hours for. */
#ifndef EMULATED_LAUNCHES_H
#define EMULATED_LAUNCHES_H

#ifdef __cplusplus
extern "C" {
#endif

/* From now on launched() is told of each kernel, and nothing that is queued is done: kernels,
 * copies and libraries' calls leave memory as it is, and device memory takes none of the host's.
 * Before the device is used. */
void emulated_only_launch(void (*launched)(const char *kernel, unsigned blocks));

#ifdef __cplusplus
}
#endif

#endif
