#include "glue/cfg.h"

#include <darknet.h>
#include <layers/cfg_keys.h>
#include <stdlib.h>

static int has_key_of_forks(const ddp_cfg_section *s)
{
    const cfg_section *known = s->title ? cfg_find_section(s->title->key) : NULL;

    if (!known)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        if (cfg_is_v4(known, s->options[i].key, s->options[i].value))
            return 1;
    return known->v4;
}

int ddp_cfg_of_forks(const ddp_cfg_text *cfg)
{
    ddp_cfg_section s;
    size_t at = 0;

    while (ddp_cfg_next_section(cfg, &at, &s))
        if (has_key_of_forks(&s))
            return 1;
    return 0;
}

int ddp_cfg_keeps_aspect(const ddp_cfg_text *cfg)
{
    ddp_cfg_section net;
    size_t at = 0;
    const ddp_cfg_line *letter_box =
        ddp_cfg_next_section(cfg, &at, &net) ? ddp_cfg_find(&net, "letter_box") : NULL;

    return !ddp_cfg_of_forks(cfg) || ddp_cfg_whole(letter_box, 0) != 0;
}

int ddp_cfg_has_unknown_section(const ddp_cfg_text *cfg)
{
    ddp_cfg_section s;
    size_t at = 0;

    while (ddp_cfg_next_section(cfg, &at, &s))
        if (s.title && !cfg_find_section(s.title->key))
            return 1;
    return 0;
}

char *ddp_cfg_base(const char *path)
{
    return basecfg((char *)path);
}
