#include "show/layers.h"

#include "base/plural.h"
#include "show/run_log.h"

#include <stdio.h>

/* Write a count in words: "5.88 million". Returns text. */
static const char *in_words(double count, char text[32])
{
    static const char *const units[] = {"", " thousand", " million", " billion"};
    size_t unit = 0;

    for (; count >= 999.5 && unit < sizeof units / sizeof *units - 1; unit++)
        count /= 1000;
    (void)snprintf(text, 32, "%.*f%s",
                   count >= 99.95 || unit == 0 ? 0
                   : count >= 9.995            ? 1
                                               : 2,
                   count, units[unit]);
    return text;
}

void ddp_layers_show(const ddp_network_size *size, const char *table)
{
    char memory[64] = "", parameters[32], operations[32];

    if (size->bytes > 0)
        (void)snprintf(memory, sizeof memory, ", %.1f MB of memory", (double)size->bytes / 1e6);
    (void)fprintf(
        stderr, "%d layer%s, %s parameters, %s operations for %s%s (-layers lists them)\n",
        size->layers, ddp_plural((size_t)size->layers),
        in_words((double)size->parameters, parameters), in_words(size->operations, operations),
        size->has_pictures ? "a picture" : "an input", memory);
    ddp_run_log_add_line(table);
}
