/* What the machine's own TCP takes, for scripts/bench-sums: bench_sockets BYTES TIMES INTERFACE,
 * under mpirun. Every rank sends each rank of other hosts as much as a sum of so many bytes makes
 * cross between the two, over a plain socket for each, and takes as much, all at once; nothing is
 * summed, and what is sent stays where it is. Rank 0 prints the median of the seconds that the
 * slowest rank took, and the CPU seconds of all ranks for it, the mean. */
#include <mpi.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP = 2, MOST_TIMES = 100, MOST_RANKS = 64, PIECE = 1 << 20 };

static int rank, size, peers;
static struct pollfd sockets[MOST_RANKS];

static void must(int holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct sockaddr_in address_of(const char *interface)
{
    struct sockaddr_in found = {0};
    struct ifaddrs *all = NULL;

    must(getifaddrs(&all) == 0, "getifaddrs");
    for (struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && strcmp(i->ifa_name, interface) == 0)
            memcpy(&found, i->ifa_addr, sizeof found);
    freeifaddrs(all);
    must(found.sin_family == AF_INET, interface);
    return found;
}

/* A socket to each rank of another host, connected by the one of higher number. */
static void join(const char *interface)
{
    struct sockaddr_in mine = address_of(interface), all[MOST_RANKS];
    socklen_t length = sizeof mine;
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    must(bind(listener, (struct sockaddr *)&mine, length) == 0 && listen(listener, MOST_RANKS) == 0,
         "listen");
    must(getsockname(listener, (struct sockaddr *)&mine, &length) == 0, "getsockname");
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        int fd;

        if (all[r].sin_addr.s_addr == mine.sin_addr.s_addr)
            continue;
        fd = r < rank ? socket(AF_INET, SOCK_STREAM, 0) : accept(listener, NULL, NULL);
        must(fd >= 0 && (r > rank || connect(fd, (struct sockaddr *)&all[r], sizeof all[r]) == 0),
             "connect");
        must(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0
                 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0,
             "socket");
        sockets[peers++].fd = fd;
    }
    close(listener);
}

/* bytes to each peer and from each. */
static void exchange(char *out, char *in, size_t bytes)
{
    size_t sent[MOST_RANKS] = {0}, got[MOST_RANKS] = {0};
    int left = bytes ? peers : 0;

    for (int i = 0; i < peers; i++)
        sockets[i].events = POLLIN | POLLOUT;
    while (left > 0) {
        must(poll(sockets, (nfds_t)peers, -1) > 0, "poll");
        for (int i = 0; i < peers; i++) {
            size_t rest = bytes - sent[i], at = (size_t)i * bytes;
            ssize_t n;

            if (sockets[i].revents & POLLOUT
                && (n = write(sockets[i].fd, out + at + sent[i], rest < PIECE ? rest : PIECE)) > 0)
                sent[i] += (size_t)n;
            if (sockets[i].revents & ~POLLOUT) {
                n = read(sockets[i].fd, in + at + got[i], bytes - got[i]);
                must(n > 0, "read");
                got[i] += (size_t)n;
            }
            sockets[i].events =
                (short)((sent[i] < bytes ? POLLOUT : 0) | (got[i] < bytes ? POLLIN : 0));
            if (sockets[i].events == 0 && sockets[i].fd >= 0) {
                sockets[i].fd = ~sockets[i].fd; /* poll leaves it alone */
                left--;
            }
        }
    }
    for (int i = 0; i < peers; i++)
        sockets[i].fd = ~sockets[i].fd;
}

/* Of 2 S (H-1)/H that leave each host, a rank sends an equal part to each of its peers. */
static size_t bytes_for_each(size_t sum)
{
    int here = size - peers;

    return 2 * sum * (size_t)peers / (size_t)size / (size_t)here / (size_t)peers;
}

int main(int argc, char **argv)
{
    int times = argc == 4 ? atoi(argv[2]) : 0;
    double seconds[MOST_TIMES], cpu = 0, all_cpu = 0;
    size_t bytes;
    char *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (times < 1 || times > MOST_TIMES || size > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    join(argv[3]);
    must(peers > 0, "another host");
    bytes = bytes_for_each((size_t)atoll(argv[1]));
    out = calloc(bytes + 1, (size_t)peers);
    in = calloc(bytes + 1, (size_t)peers);
    must(out && in, "calloc");
    for (int i = -WARM_UP; i < times; i++) {
        double start, start_cpu, took;

        MPI_Barrier(MPI_COMM_WORLD);
        start_cpu = cpu_s();
        start = MPI_Wtime();
        exchange(out, in, bytes);
        took = MPI_Wtime() - start;
        if (i < 0)
            continue;
        cpu += cpu_s() - start_cpu;
        MPI_Reduce(&took, &seconds[i], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    }
    MPI_Reduce(&cpu, &all_cpu, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(seconds, (size_t)times, sizeof *seconds, ascending);
        printf("%.4f %.4f\n", seconds[times / 2], all_cpu / times);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
