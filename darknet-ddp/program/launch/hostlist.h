/* launch/hostlist.h: reads which hosts -ddp_hosts names, and how many ranks each gets. */
#ifndef DDP_LAUNCH_HOSTLIST_H
#define DDP_LAUNCH_HOSTLIST_H

#include "base/status.h"

#include <stddef.h>

enum { DDP_HOSTS_MAX = 1024 };

typedef struct ddp_host {
    char *name;      /* name or address of the host, as the user gave it */
    int ranks;       /* number of ranks to start on the host */
    int unreachable; /* 1: the host did not answer ddp_hosts_probe (launch/reach.h) */
} ddp_host;

typedef struct ddp_hosts {
    ddp_host *list;
    size_t count;
} ddp_hosts;

/* Read hosts from text such as "a,b:4", or, if a file has that name, from the file. The file has a
 * line for each host: "a", "b:4" or "b slots=4"; # begins a comment. Fails with DDP_ERR_USAGE,
 * DDP_ERR_NOMEM. Release *h also after a failure.
 *   ranks  number of ranks for a host that names none, 1 to 4096 */
ddp_status ddp_hosts_read(ddp_hosts *h, const char *text, int ranks, ddp_error *err) DDP_MUST_CHECK;
void ddp_hosts_release(ddp_hosts *h); /* frees the list; all zero is allowed */

/* Return 1 if any host is named with its domain, such as a.example; else 0. An IP address has
 * none. */
int ddp_hosts_have_domains(const ddp_hosts *h);

/* Return 1 if the text is an IP address. */
int ddp_is_address(const char *name);

/* Return 1 if the text is this host's name, an IPv4 address of this host, or localhost. */
int ddp_is_this_host(const char *name);

/* Return 1 if *h has a host that is not this one and is not marked unreachable. */
int ddp_hosts_have_others(const ddp_hosts *h);

/* Write to network[0..size) the IPv4 network, such as "10.1.0.0/16", that leads from this host to
 * the first other one in *h that is reachable. Returns 1; 0 if there is none, or its address is not
 * known. */
int ddp_hosts_network(const ddp_hosts *h, char *network, size_t size);

/* Return the sum of the ranks of all hosts that are not unreachable. */
int ddp_hosts_ranks(const ddp_hosts *h);

/* Return a text such as "a:4,b:2" for mpirun's -H, which spreads `ranks` ranks over the hosts. In
 * their order, each host gets its number of ranks until no ranks are left. Unreachable hosts get
 * none. The caller frees it. NULL: no memory. */
char *ddp_hosts_argument(const ddp_hosts *h, int ranks);

#endif
