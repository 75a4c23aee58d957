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

/* With as many digits behind the point as `digits_of` says. */
static void
put_duration(uint64_t ns, int (*digits_of)(double value), const char *micro, char text[SND_DURATION_SIZE])
{
    const char *const units[] = {"s", "ms", micro};
    double value = (double)ns / 1e9;

    for (int i = 0; i < 3; i++, value *= 1000) {
        if (value < 0.99999)
            continue;
        snprintf(text, SND_DURATION_SIZE, "%.*f %s", digits_of(value), value, units[i]);
        return;
    }
    snprintf(text, SND_DURATION_SIZE, "%llu ns", (unsigned long long)ns);
}

static int
usual_digits(double value)
{
    return value >= 500 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
}

void
snd_duration_text(uint64_t ns, char text[SND_DURATION_SIZE])
{
    put_duration(ns, usual_digits, "µs", text);
}

void
snd_duration_plain(uint64_t ns, char text[SND_DURATION_SIZE])
{
    put_duration(ns, usual_digits, "us", text);
}

int
snd_short_digits(double value)
{
    return value >= 9.95 ? 0 : value >= 0.995 ? 1 : 2;
}

void
snd_duration_short(uint64_t ns, char text[SND_DURATION_SIZE])
{
    put_duration(ns, snd_short_digits, "µs", text);
}

void
snd_text_plain(snd_buffer *text, size_t from)
{
    static const struct {
        const char *unicode, *ascii; /* which is not longer */
    } marks[] = {{"µ", "u"}, {"±", "+-"}, {"≤", "<="}, {"–", "-"}, {"…", "..."}};
    size_t to = from;

    for (size_t at = from; at < text->size;) {
        size_t i = 0, len = 0;
        for (; i < sizeof marks / sizeof marks[0]; i++) {
            len = strlen(marks[i].unicode);
            if (text->size - at >= len && memcmp(text->data + at, marks[i].unicode, len) == 0)
                break;
        }
        int is_mark = i < sizeof marks / sizeof marks[0];
        size_t size = is_mark ? strlen(marks[i].ascii) : 1;
        memmove(text->data + to, is_mark ? marks[i].ascii : text->data + at, size);
        at += is_mark ? len : 1;
        to += size;
    }
    if (text->size > from) {
        text->size = to;
        text->data[to] = '\0';
    }
}

void
snd_text_wrap(snd_buffer *text, size_t from, size_t width)
{
    size_t blank = SIZE_MAX; /* the last one in this line */

    for (size_t at = from, start = from; width != 0 && at < text->size; at++) {
        if (text->data[at] == '\n') {
            start = at + 1;
            blank = SIZE_MAX;
        }
        else if (text->data[at] == ' ')
            blank = at;
        char next = text->data[at + 1];
        if (blank == SIZE_MAX || blank == at || (next != ' ' && next != '\n' && next != '\0'))
            continue;
        text->data[at + 1] = '\0';
        size_t used = snd_utf8_width(text->data + start);
        text->data[at + 1] = next;
        if (used > width) {
            text->data[blank] = '\n';
            start = blank + 1;
            blank = SIZE_MAX;
        }
    }
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
