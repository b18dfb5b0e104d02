/* Linked into darknet-bf16, the program that computes -ddp_bf16 1 on any CPU: it multiplies values
 * of bf16 as float32, and rounds the results to bf16. */
#include <layers/bf16/host.h>

static void __attribute__((constructor)) emulate_bf16(void)
{
    bf16_emulated = 1;
}
