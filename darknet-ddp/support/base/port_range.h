/* base/port_range.h: the TCP ports at which ranks of this run may listen, if mpirun limits them:
 * for example to those that a firewall lets pass. */
#ifndef DDP_BASE_PORT_RANGE_H
#define DDP_BASE_PORT_RANGE_H

/* Ports from `first` on, `count` of them. */
typedef struct ddp_port_range {
    int first, count; /* count 0: the system chooses a port */
} ddp_port_range;

/* Return the range of Open MPI's parameters btl_tcp_port_min_v4 and btl_tcp_port_range_v4, which
 * mpirun puts into a rank's environment. count is 0 if one is missing or out of range. */
ddp_port_range ddp_port_range_of_ranks(void);

#endif
