/* Has rank 1 end, or all ranks stop, in the start of MPI: $NO_START is "ends" or "stops". */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int MPI_Init_thread(int *count, char ***words, int wanted, int *given);

int MPI_Init_thread(int *count, char ***words, int wanted, int *given)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *how = getenv("NO_START");
    int (*begin)(int *, char ***, int, int *);
    void *found = dlsym(RTLD_NEXT, "MPI_Init_thread");

    if (how && strcmp(how, "stops") == 0)
        (void)raise(SIGSTOP);
    else if (how && rank && strcmp(rank, "1") == 0)
        _exit(0);
    memcpy(&begin, &found, sizeof begin);
    return begin(count, words, wanted, given);
}
