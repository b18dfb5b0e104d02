#include "text/line.h"

#include <string.h>

static const char blanks[] = " \t\r\n";

size_t ddp_byte_order_mark(const char *text, size_t bytes)
{
    return bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

const char *ddp_has_zeros(const char *begin, size_t bytes)
{
    if (bytes >= 2 && (memcmp(begin, "\xff\xfe", 2) == 0 || memcmp(begin, "\xfe\xff", 2) == 0))
        return "is UTF-16 text: save it as UTF-8";
    return "has bytes of 0: it is no text file, or was not written whole, as after a loss of power";
}

int ddp_line_cut(char *line)
{
    size_t length = strlen(line);

    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        length--;
    line[length] = 0;
    return line[strspn(line, blanks)] != 0;
}

/* Remove the blanks before and behind a text. */
static void trim(char *text)
{
    size_t first = strspn(text, blanks), length = strlen(text);

    while (length > first && strchr(blanks, text[length - 1]))
        length--;
    memmove(text, text + first, length - first);
    text[length - first] = 0;
}

void ddp_line_squeeze(char *text)
{
    char *to = text;

    for (; *text; text++)
        if (!strchr(blanks, *text))
            *to++ = *text;
    *to = 0;
}

ddp_line_kind ddp_line_split(char *line, int is_cfg, char **value)
{
    char *equals;

    *value = NULL;
    (is_cfg ? ddp_line_squeeze : trim)(line);
    if (*line == 0 || *line == '#' || *line == ';')
        return DDP_LINE_BLANK;
    if (*line == '[')
        return DDP_LINE_TITLE;
    equals = strchr(line, '=');
    if (equals) {
        *equals = 0;
        *value = equals + 1;
        trim(line);
        trim(*value);
    }
    return DDP_LINE_OPTION;
}

int ddp_line_lacks_comma(const char *line)
{
    char last = 0;
    int has_blank = 0;

    for (; *line && *line != '#' && *line != ';'; line++) {
        if (strchr(blanks, *line)) {
            has_blank = 1;
            continue;
        }
        if (has_blank && last >= '0' && last <= '9' && strchr("0123456789.-", *line))
            return 1;
        last = *line;
        has_blank = 0;
    }
    return 0;
}
