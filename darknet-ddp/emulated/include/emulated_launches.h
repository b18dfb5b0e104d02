/* emulated/include/emulated_launches.h: for tests of which kernels a program launches, at sizes
 * that would take the emulated device hours. */
#ifndef EMULATED_LAUNCHES_H
#define EMULATED_LAUNCHES_H

#ifdef __cplusplus
extern "C" {
#endif

/* From now on call launched() for each kernel, and leave out all queued work. Kernels, copies and
 * libraries' calls then leave memory as it is, and device memory takes no host memory. Call before
 * the device is used. blocks: how many the kernel's grid has. */
void emulated_only_launch(void (*launched)(const char *kernel, unsigned blocks));

#ifdef __cplusplus
}
#endif

#endif
