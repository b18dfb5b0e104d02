#include "monitor/html.h"

#define FIRST "<!doctype html>\n<!-- darknet-ddp -->\n"

const char ddp_html_first[] = FIRST;

static const char head[] =
    FIRST "<html lang=\"en\"><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
          "body{font:15px/1.45 system-ui,sans-serif;margin:1.5em auto;max-width:75em;padding:0 1em;"
          "color:#222;background:#fff}\n"
          "h2{margin:2em 0 .4em}table{border-collapse:collapse}td,th{padding:.1em .8em .1em 0;"
          "text-align:left;vertical-align:top}td.n{text-align:right}\n"
          ".bar{display:inline-block;height:.8em;background:#4a78b5}.grid{display:flex;"
          "flex-wrap:wrap;gap:1em}.card{width:17em;overflow-wrap:anywhere;font-size:13px}\n"
          "svg{max-width:100%;height:auto;display:block}code{font-size:12px}"
          "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181a1d}a{color:#8ab4f8}}\n"
          "</style>\n<title>";

void ddp_html_text(FILE *out, const char *text)
{
    for (; text && *text; text++) {
        if (*text == '&')
            (void)fputs("&amp;", out);
        else if (*text == '<')
            (void)fputs("&lt;", out);
        else if (*text == '"')
            (void)fputs("&quot;", out);
        else
            (void)fputc(*text, out);
    }
}

void ddp_html_begin(FILE *out, const char *title)
{
    (void)fputs(head, out);
    ddp_html_text(out, title);
    (void)fputs("</title>\n<h1>", out);
    ddp_html_text(out, title);
    (void)fputs("</h1>\n", out);
}

void ddp_html_end(FILE *out)
{
    (void)fputs("</html>\n", out);
}

void ddp_html_base64(FILE *out, const void *data, size_t count)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    const unsigned char *bytes = data;

    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        unsigned b = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0)
                     | (left > 2 ? (unsigned)bytes[i + 2] : 0);

        (void)fputc(letters[b >> 18], out);
        (void)fputc(letters[b >> 12 & 63], out);
        (void)fputc(left > 1 ? letters[b >> 6 & 63] : '=', out);
        (void)fputc(left > 2 ? letters[b & 63] : '=', out);
    }
}

static void put_box(FILE *out, const ddp_html_box *b, int width, int height)
{
    double left = b->box.left * width, top = b->box.top * height;

    (void)fprintf(out,
                  "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
                  "stroke-width=\"2\" stroke=\"%s\"%s/>",
                  left, top, b->box.width * width, b->box.height * height, b->colour,
                  b->is_dashed ? " stroke-dasharray=\"6 4\"" : "");
    if (!b->name)
        return;
    (void)fprintf(out,
                  "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\" fill=\"%s\" stroke=\"#000\" "
                  "stroke-width=\"2.5\" paint-order=\"stroke\">",
                  left + 3 < 0 ? 3 : left + 3,
                  b->is_dashed ? (b->box.top + b->box.height) * height - 4 : top + 13, b->colour);
    ddp_html_text(out, b->name);
    (void)fputs("</text>", out);
}

void ddp_html_jpeg(FILE *out, const void *jpeg, size_t bytes, int width, int height,
                   const ddp_html_box *boxes, size_t count)
{
    (void)fprintf(out,
                  "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\"><image width=\"%d\" "
                  "height=\"%d\" href=\"data:image/jpeg;base64,",
                  width, height, width, height, width, height);
    ddp_html_base64(out, jpeg, bytes);
    (void)fputs("\"/>", out);
    for (size_t i = 0; i < count; i++)
        put_box(out, &boxes[i], width, height);
    (void)fputs("</svg>\n", out);
}

void ddp_html_bars(FILE *out, const char *const *names, const double *counts, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = counts[i] > most ? counts[i] : most;
    (void)fputs("<table>\n", out);
    for (size_t i = 0; i < count; i++) {
        (void)fputs("<tr><td>", out);
        ddp_html_text(out, names[i]);
        (void)fprintf(
            out, "<td class=\"n\">%.0f<td><span class=\"bar\" style=\"width:%.1fem\"></span>\n",
            counts[i], most > 0 ? 30 * counts[i] / most : 0);
    }
    (void)fputs("</table>\n", out);
}
