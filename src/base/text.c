/* Numbers as people read them, parts of paths, and texts in JSON. */
#include "base/text.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

void
snd_bytes_text(uint64_t bytes, char text[SND_BYTES_SIZE])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    unsigned unit = 0;

    if (bytes < 1024) {
        snprintf(text, SND_BYTES_SIZE, "%u B", (unsigned)bytes);
        return;
    }
    for (; value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]; unit++) /* 1000 KiB would be four digits */
        value /= 1024;
    int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, SND_BYTES_SIZE, "%.*f %s", digits, value, units[unit]);
}

uint64_t
snd_bytes_of(double bytes)
{
    if (!(bytes > 0))
        return 0;
    return bytes < 9.2e18 ? (uint64_t)bytes : (uint64_t)INT64_MAX;
}

void
snd_duration_text(uint64_t ns, char text[SND_DURATION_SIZE])
{
    static const char *const units[] = {"s", "ms", "us"};
    double value = (double)ns / 1e9;

    for (int i = 0; i < 3; i++, value *= 1000) {
        if (value < 0.99999)
            continue;
        int digits = value >= 500 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
        snprintf(text, SND_DURATION_SIZE, "%.*f %s", digits, value, units[i]);
        return;
    }
    snprintf(text, SND_DURATION_SIZE, "%llu ns", (unsigned long long)ns);
}

const char *
snd_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* ---- JSON ---- */

static int
is_plain(char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

void
snd_json_string(snd_buffer *out, const char *text)
{
    const char *end = text + strlen(text);

    snd_buffer_char(out, '"');
    while (text < end) {
        const char *from = text;
        while (text < end && is_plain(*text))
            text++;
        snd_buffer_put(out, from, (size_t)(text - from));
        if (text == end)
            break;
        from = text;
        uint32_t character = snd_utf8_next(&text, end);
        if (character == SND_UTF8_BAD)
            snd_buffer_text(out, "\\ufffd");
        else if (character == '"' || character == '\\') {
            snd_buffer_char(out, '\\');
            snd_buffer_char(out, (char)character);
        }
        else if (character < 0x20 || character == 0x7f || character == 0x2028 || character == 0x2029)
            snd_buffer_printf(out, "\\u%04x", character);
        else
            snd_buffer_put(out, from, (size_t)(text - from));
    }
    snd_buffer_char(out, '"');
}
