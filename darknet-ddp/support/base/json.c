#include "base/json.h"

#include <math.h>

void ddp_json_text(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; text && *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == '"' || c == '\\' || c == '<')
            (void)fprintf(out, "\\u%04x", c);
        else
            (void)fputc(c, out);
    }
    (void)fputc('"', out);
}

void ddp_json_number(FILE *out, double value)
{
    if (isfinite(value))
        (void)fprintf(out, "%.7g", value);
    else
        (void)fputs("null", out);
}
