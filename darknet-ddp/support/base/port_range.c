#include "base/port_range.h"

#include <stdlib.h>

enum { FIRST = 1024, LAST = 65535 };

static int parameter(const char *name)
{
    const char *text = getenv(name);
    const long value = text ? strtol(text, NULL, 10) : 0;

    return value > 0 && value <= LAST ? (int)value : 0;
}

ddp_port_range ddp_port_range_of_ranks(void)
{
    ddp_port_range r = {.first = parameter("OMPI_MCA_btl_tcp_port_min_v4"),
                        .count = parameter("OMPI_MCA_btl_tcp_port_range_v4")};

    if (r.first < FIRST || r.count > LAST - r.first + 1)
        r.count = 0;
    return r;
}
