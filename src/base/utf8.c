/* Decoding UTF-8, and how wide it is on a terminal. */
#include "base/utf8.h"

#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <wchar.h>

uint32_t
snd_utf8_next(const char **at, const char *end)
{
    const unsigned char *bytes = (const unsigned char *)*at;
    size_t left = (size_t)(end - *at);
    uint32_t first = bytes[0];
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;

    ++*at;
    if (len == 0 || len > left)
        return SND_UTF8_BAD;
    if (len == 1)
        return first;
    uint32_t value = first & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return SND_UTF8_BAD;
        value = value << 6 | (bytes[i] & 0x3F);
    }
    if (value < least[len] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return SND_UTF8_BAD;
    *at += len - 1;
    return value;
}

static locale_t wide_locale;

static void
make_locale(void)
{
    wide_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

unsigned
snd_utf8_cells(uint32_t character)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (character < 0x300)
        return 1;
    pthread_once(&once, make_locale);
    if (wide_locale == (locale_t)0)
        return 1;
    locale_t before = uselocale(wide_locale);
    int cells = wcwidth((wchar_t)character);
    uselocale(before);
    return cells < 0 ? 1 : (unsigned)cells;
}

int
snd_utf8_is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7F && character < 0xA0) ||
           (character >= 0x202A && character <= 0x202E) || (character >= 0x2066 && character <= 0x2069);
}

size_t
snd_utf8_width(const char *text)
{
    const char *end = text + strlen(text);
    size_t width = 0;

    while (text < end) {
        uint32_t character = snd_utf8_next(&text, end);
        width += character == SND_UTF8_BAD ? 1 : snd_utf8_cells(character);
    }
    return width;
}

void
snd_utf8_put(const char *text, snd_buffer *out)
{
    const char *end = text + strlen(text);

    while (text < end) {
        const char *from = text;
        if (snd_utf8_next(&text, end) == SND_UTF8_BAD)
            snd_buffer_text(out, "\xef\xbf\xbd");
        else
            snd_buffer_put(out, from, (size_t)(text - from));
    }
}

void
snd_utf8_clean(const char *text, snd_buffer *out)
{
    const char *end = text + strlen(text);

    while (text < end) {
        const char *from = text;
        uint32_t character = snd_utf8_next(&text, end);
        if (character == SND_UTF8_BAD)
            snd_buffer_printf(out, "\\x%02x", (unsigned char)*from);
        else if (character == '\n')
            snd_buffer_text(out, "\\n");
        else if (character == '\t')
            snd_buffer_text(out, "\\t");
        else if (snd_utf8_is_control(character))
            snd_buffer_printf(out, character < 0x100 ? "\\x%02x" : "\\u%04x", character);
        else
            snd_buffer_put(out, from, (size_t)(text - from));
    }
}
