/* emulated/include/emulated_launches.h: for tests that only count the kernels that a program
 * launches, at sizes whose computation would take hours. */
#ifndef EMULATED_LAUNCHES_H
#define EMULATED_LAUNCHES_H

#ifdef __cplusplus
extern "C" {
#endif

/* From now on call launched() for each kernel launch, with the number of blocks. Kernels, copies,
 * fills and calls of cuBLAS, cuDNN and cuRAND leave memory as it is; only NCCL's calls write.
 * Device memory that NCCL does not write takes no host memory. Call before the device is used. */
void emulated_only_launch(void (*launched)(const char *kernel, unsigned blocks));

#ifdef __cplusplus
}
#endif

#endif
