/* Has a rank print many lines to standard error, each in pieces, before it meets the others. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 300, PIECES = 8 };

int MPI_Init_thread(int *count, char ***words, int wanted, int *given);

int MPI_Init_thread(int *count, char ***words, int wanted, int *given)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    int (*begin)(int *, char ***, int, int *);
    void *found = dlsym(RTLD_NEXT, "MPI_Init_thread");
    char piece[51];

    memset(piece, rank ? *rank : '?', sizeof piece);
    piece[sizeof piece - 1] = '\0';
    for (int i = 0; i < LINES; i++) {
        (void)fprintf(stderr, "rank ");
        for (int k = 0; k < PIECES; k++)
            (void)fprintf(stderr, "%s", piece);
        (void)fprintf(stderr, "\n");
    }
    memcpy(&begin, &found, sizeof begin);
    return begin(count, words, wanted, given);
}
