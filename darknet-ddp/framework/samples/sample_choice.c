#include "samples/sample_choice.h"

#include "samples/sampler.h"

size_t ddp_sample_choice_line(const ddp_sample_choice *c, size_t sample, size_t n)
{
    size_t line =
        c->replace ? ddp_sampler_draw(c->seed, sample, n) : ddp_sampler_at(c->seed, sample, n);

    return ddp_bad_samples_instead(c->bad_data, line, n);
}

const char *ddp_sample_choice_path(const ddp_sample_choice *c, size_t sample, size_t *line)
{
    size_t i;

    if (!c->paths || c->path_count == 0)
        return NULL;
    i = ddp_sample_choice_line(c, sample, c->path_count);
    *line = i + 1;
    return c->paths[i];
}
