/* Draws those letters of class names that are not ASCII, with FreeType. In a build without it (no
 * DDP_FREETYPE) '?' stands for each of them. */
#include "layers/images/label_text.h"

#ifdef DDP_FREETYPE

#include <ft2build.h>
#include FT_FREETYPE_H

/* Fonts as Debian and Fedora install them, the ones that have Latin, Greek and Cyrillic first. */
static const char *const files[] = {
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/freefont/FreeSans.ttf",
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/opentype/unifont/unifont.otf",
};

enum { FILES = sizeof files / sizeof files[0] };

/* Return the first font that has the letter, or NULL. Fonts stay open. */
static FT_Face find_font(unsigned letter)
{
    static FT_Library library;
    static FT_Face fonts[FILES];
    static int opened;
    int i;
    if (!opened && FT_Init_FreeType(&library) == 0)
        for (i = 0; i < FILES; ++i)
            if (FT_New_Face(library, files[i], 0, &fonts[i]) != 0)
                fonts[i] = NULL;
    opened = 1;
    for (i = 0; i < FILES; ++i)
        if (fonts[i] && FT_IS_SCALABLE(fonts[i]) && FT_Get_Char_Index(fonts[i], letter))
            return fonts[i];
    return NULL;
}

/* Draw the font's current letter onto a white picture, its left top corner at left, top. */
static void draw_ink(FT_GlyphSlot from, int left, int top, image to)
{
    int x, y, k;
    for (y = 0; y < (int)from->bitmap.rows; ++y)
        for (x = 0; x < (int)from->bitmap.width; ++x) {
            int at_x = left + x, at_y = top + y;
            unsigned char ink = from->bitmap.buffer[y * from->bitmap.pitch + x];
            if (at_x < 0 || at_x >= to.w || at_y < 0 || at_y >= to.h)
                continue;
            for (k = 0; k < to.c; ++k)
                to.data[(k * to.h + at_y) * to.w + at_x] = 1 - (float)ink / 255;
        }
}

image label_letter(unsigned letter, int height, int overlap)
{
    FT_Face font = find_font(letter);
    image out = {0};
    int i, width, full, pixels;
    if (!font || height < 2)
        return out;
    full = font->ascender - font->descender;
    pixels = (int)((long)height * font->units_per_EM / (full > 0 ? full : font->units_per_EM));
    if (FT_Set_Pixel_Sizes(font, 0, (FT_UInt)(pixels > 0 ? pixels : 1)) != 0
        || FT_Load_Char(font, letter, FT_LOAD_RENDER) != 0
        || font->glyph->bitmap.pixel_mode != FT_PIXEL_MODE_GRAY)
        return out;
    width = (int)(font->glyph->advance.x >> 6);
    if (width < 1)
        return out;
    out = make_image(width + overlap, height, 3);
    for (i = 0; i < out.w * out.h * out.c; ++i)
        out.data[i] = 1;
    draw_ink(font->glyph, overlap / 2 + font->glyph->bitmap_left,
             (int)((long)font->ascender * pixels / font->units_per_EM) - font->glyph->bitmap_top,
             out);
    return out;
}

#else

image label_letter(unsigned letter, int height, int overlap)
{
    (void)letter;
    (void)height;
    (void)overlap;
    return (image){0};
}

#endif
