#include "layers/layer_table.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

void (*layer_table_handler)(const network *net, const char *table, size_t bytes) = 0;

static FILE *table, *before;
static char *text;
static size_t length, used;

static size_t memory(void)
{
    struct mallinfo2 now = mallinfo2();

    return now.uordblks + now.hblkhd;
}

void layer_table_begin(void)
{
    layer_table_drop();
    used = memory();
    table = layer_table_handler ? open_memstream(&text, &length) : 0;
    before = stderr;
    if (table)
        stderr = table;
}

void layer_table_end(void)
{
    if (!table)
        return;
    stderr = before;
    fclose(table);
    table = 0;
}

void layer_table_drop(void)
{
    layer_table_end();
    free(text);
    text = 0;
}

void layer_table_show(const network *net)
{
    if (text)
        layer_table_handler(net, text, memory() - used);
    layer_table_drop();
}
