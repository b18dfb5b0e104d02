/* For tests of what a program launches, at sizes that the emulated device would take hours for. */
#ifndef EMULATED_LAUNCHES_H
#define EMULATED_LAUNCHES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Call launched() for each kernel from now on, and do nothing that is queued. Kernels, copies and
 * libraries' calls then leave memory as it is, and device memory takes none of the host's. Call
 * before the device is used. */
void emulated_only_launch(void (*launched)(const char *kernel, unsigned blocks));

#ifdef __cplusplus
}
#endif

#endif
