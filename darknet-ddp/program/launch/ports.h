/* launch/ports.h: TCP ports that mpirun and its daemons listen on. */
#ifndef DDP_LAUNCH_PORTS_H
#define DDP_LAUNCH_PORTS_H

#include <stddef.h>

/* Draw four ports of 46900 to 46999 at random, and write them into out with commas between them: at
 * least 24 bytes. Ports that are free on this host are preferred. mpirun and its daemons listen on
 * each port that they are given, unless another process has it. So four are enough for several jobs
 * side by side to have one each. */
void ddp_draw_ports(char *out, size_t size);

#endif
