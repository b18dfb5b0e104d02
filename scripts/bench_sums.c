/* MPI_Allreduce's side of scripts/bench-sums.py: bench_sums BYTES TIMES, under mpirun. Rank 0
 * prints the median of the seconds of a sum, and its own CPU seconds a sum. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WARM_UP = 2, MOST = 100 };

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

int main(int argc, char **argv)
{
    int count = argc == 3 ? atoi(argv[1]) / (int)sizeof(float) : 0,
        times = argc == 3 ? atoi(argv[2]) : 0, rank;
    double seconds[MOST], cpu = 0;
    float *x;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    x = calloc((size_t)count + 1, sizeof *x);
    if (!x || count < 1 || times < 1 || times > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = -WARM_UP; i < times; i++) {
        double start;

        MPI_Barrier(MPI_COMM_WORLD);
        if (i == 0)
            cpu = cpu_s();
        start = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (i >= 0)
            seconds[i] = MPI_Wtime() - start;
    }
    cpu = (cpu_s() - cpu) / times;
    qsort(seconds, (size_t)times, sizeof *seconds, ascending);
    if (rank == 0)
        printf("%.4f %.4f\n", seconds[times / 2], cpu);
    free(x);
    MPI_Finalize();
    return 0;
}
