/* Fuzzes event files of `darknet ddp why`: the input is cut in two, the files of two ranks. */
#include "guarded.h"

#include "watch/flight_recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *paths[] = {(char *)guarded_file(0, data, size / 2),
                     (char *)guarded_file(1, data + size / 2, size - size / 2)};
    ddp_error err;
    char text[1024];

    (void)!ddp_events_explain(text, sizeof text, paths, 2, &err);
    return 0;
}
