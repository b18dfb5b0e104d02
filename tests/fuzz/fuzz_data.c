/* Fuzzes .data files, as Darknet reads them, and as we do. */
#include "guarded.h"

#include "base/cfg_text.h"

#include <darknet.h>
#include <option_list.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 8 << 20 };

static void read_options(void *path)
{
    list *options = read_data_cfg(path);

    (void)option_find_int(options, "classes", 20);
    (void)option_find_int_quiet(options, "top", 1);
    (void)option_find_float(options, "scale", 1);
    (void)option_find_str(options, "train", "data/train.list");
    (void)option_find(options, "backup");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ddp_cfg_text text;
    ddp_cfg_section section;
    ddp_error err;

    (void)guarded_run(read_options, (void *)guarded_file(0, data, size), MEMORY);
    if (ddp_cfg_text_read_data(&text, (const char *)data, size, &err) == DDP_OK)
        for (size_t at = 0; ddp_cfg_next_section(&text, &at, &section);)
            (void)ddp_cfg_find(&section, "train");
    ddp_cfg_text_release(&text);
    return 0;
}
