/* Loaded before the program's libraries (LD_PRELOAD): gives the rank $DECODER_RANK, or any process
 * if that is empty, another libpng, as far as its version says. */
#include <stdlib.h>
#include <string.h>

const char *png_get_libpng_ver(const void *png);

const char *png_get_libpng_ver(const void *png)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *other = getenv("DECODER_RANK");

    (void)png;
    return other && (!*other || (rank && strcmp(rank, other) == 0)) ? "1.0.0" : "1.6.39";
}
