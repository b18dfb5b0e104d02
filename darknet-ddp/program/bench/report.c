#include "bench/bench.h"

#include "base/json.h"
#include "base/plural.h"
#include "comm/group_schedule.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void ddp_sample_sort(ddp_sample *s)
{
    qsort(s->seconds, s->count, sizeof *s->seconds, by_value);
}

double ddp_sample_quantile(const ddp_sample *s, double q)
{
    return s->count ? s->seconds[(size_t)(q * (double)(s->count - 1) + 0.5)] : 0;
}

void ddp_bench_print(FILE *out, const ddp_bench_result *r)
{
    const ddp_bench_config *c = r->config;

    char summed[64] = "";

    if (r->summed_mb < r->gradient_mb)
        (void)snprintf(summed, sizeof summed, ", of which %.3f MB are summed", r->summed_mb);
    (void)fprintf(out,
                  "%s, %dx%d, %d image%s a step on %d rank%s (%s, %s, %s), %.1f MB in %zu bucket%s"
                  "%s%s%s%s%s%s%s%s\n",
                  c->cfg, c->shape.width, c->shape.height, r->batch, ddp_plural((size_t)r->batch),
                  r->ranks, ddp_plural((size_t)r->ranks), c->devices, r->precision, r->transport,
                  r->gradient_mb, r->buckets, ddp_plural(r->buckets), c->exact ? ", exact" : "",
                  c->deterministic ? ", deterministic" : "", c->overlap ? "" : ", overlap off",
                  c->wire ? ", gradients travel as " : "", c->wire ? c->wire : "", summed,
                  c->replay ? ", layers sleep as long as in " : "", c->replay ? c->replay : "");
    if (ddp_group_channels(c->group) > 1)
        (void)fprintf(out, "sums take turns at %d channels\n", ddp_group_channels(c->group));
    (void)fprintf(out, "%-14s %10s %10s %10s   seconds on rank 0\n", "", "median", "lowest",
                  "highest");
    for (size_t i = 0; i < r->sample_count; i++) {
        const ddp_sample *s = &r->samples[i];

        (void)fprintf(out, "%-14s %10.4f %10.4f %10.4f   %s\n", s->name,
                      ddp_sample_quantile(s, 0.5), ddp_sample_quantile(s, 0),
                      ddp_sample_quantile(s, 1), s->meaning);
    }
    (void)fprintf(out, "communication alone takes %.4f s of CPU time\n", r->cpu_s);
    if (r->counted && r->ranks > 1)
        (void)fprintf(
            out,
            "sums over ranks: %s; in a step a rank sends %llu message%s, and %.1f MB leave "
            "a host\n",
            ddp_group_schedule(c->group), (unsigned long long)r->messages,
            ddp_plural((size_t)r->messages), r->inter_host_mb);
    (void)fprintf(out,
                  "limit = max(local step%s, communication alone) = %.4f s; step / limit = %.3f\n",
                  r->on_host ? " + that" : "", r->limit_s, r->step_s / r->limit_s);
    (void)fprintf(out, "%.2f images/s; %.2f images/s without communication\n", r->batch / r->step_s,
                  r->batch / r->local_s);
}

static const char *word(int yes)
{
    return yes ? "true" : "false";
}

void ddp_bench_print_json(FILE *out, const ddp_bench_result *r)
{
    const ddp_bench_config *c = r->config;

    (void)fputs("{\n  \"cfg\": ", out);
    ddp_json_text(out, c->cfg);
    (void)fputs(", \"device\": ", out);
    ddp_json_text(out, c->devices);
    if (c->replay) {
        (void)fputs(", \"replay\": ", out);
        ddp_json_text(out, c->replay);
    }
    (void)fprintf(
        out,
        ",\n  \"transport\": \"%s\", \"precision\": \"%s\", \"ranks\": %d, \"batch\": %d,\n"
        "  \"exact\": %s, \"deterministic\": %s, \"overlap\": %s, \"compress\": \"%s\",\n"
        "  \"width\": %d, \"height\": %d, \"gradient_mb\": %.3f, \"summed_mb\": %.3f, \"buckets\": "
        "%zu,\n"
        "  \"channels\": %d, \"unit\": \"s\",\n",
        r->transport, r->precision, r->ranks, r->batch, word(c->exact), word(c->deterministic),
        word(c->overlap), c->wire ? c->wire : "none", c->shape.width, c->shape.height,
        r->gradient_mb, r->summed_mb, r->buckets, ddp_group_channels(c->group));
    for (size_t i = 0; i < r->sample_count; i++) {
        const ddp_sample *s = &r->samples[i];

        (void)fprintf(out, "  \"%s\": {\"median\": %.6f, \"low\": %.6f, \"high\": %.6f},\n",
                      s->name, ddp_sample_quantile(s, 0.5), ddp_sample_quantile(s, 0),
                      ddp_sample_quantile(s, 1));
    }
    if (r->counted)
        (void)fprintf(out, "  \"schedule\": \"%s\", \"messages\": %llu, \"left_host_mb\": %.3f,\n",
                      ddp_group_schedule(c->group), (unsigned long long)r->messages,
                      r->inter_host_mb);
    (void)fprintf(out,
                  "  \"communication_cpu\": %.6f, \"limit\": %.6f, \"step_over_limit\": %.4f,\n"
                  "  \"images_per_s\": %.3f, \"local_images_per_s\": %.3f\n}\n",
                  r->cpu_s, r->limit_s, r->step_s / r->limit_s, r->batch / r->step_s,
                  r->batch / r->local_s);
}
