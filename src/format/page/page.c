/* The report page: the data of a profile, and the page around it. */
#include "format/page/page.h"

#include "base/alloc.h"
#include "base/text.h"
#include "format/page/page_private.h"
#include "format/table/format.h"
#include "view/core/source.h"
#include "view/sampled/facts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- packing a page's data ---- */

/* Three bytes, of which `count` are there. */
static void
put_group(const unsigned char *bytes, unsigned count, char *group)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)bytes[0] << 16 | (count > 1 ? (uint32_t)bytes[1] << 8 : 0) | (count > 2 ? bytes[2] : 0);

    group[0] = digits[bits >> 18];
    group[1] = digits[bits >> 12 & 63];
    group[2] = '=';
    group[3] = '=';
    if (count > 1)
        group[2] = digits[bits >> 6 & 63];
    if (count > 2)
        group[3] = digits[bits & 63];
}

static snd_status
put_base64(void *context, const unsigned char *data, size_t size)
{
    snd_page_pack *self = context;
    char group[4];

    for (size_t i = 0; i < size; i++) {
        self->rest[self->rest_count++] = data[i];
        if (self->rest_count == 3) {
            put_group(self->rest, 3, group);
            snd_buffer_put(self->out, group, sizeof group);
            self->rest_count = 0;
        }
    }
    return snd_buffer_status(self->out);
}

static snd_status
start_pack(snd_page_pack *self, snd_buffer *out)
{
    *self = (snd_page_pack){.out = out};
    return snd_gzip_start(&self->gzip, Z_FILTERED, put_base64, self);
}

snd_status
snd_page_pack_flush(snd_page_pack *self)
{
    return snd_gzip_flush(&self->gzip);
}

/* Takes the rest in and ends. */
static snd_status
end_pack(snd_page_pack *self)
{
    char group[4];
    snd_status status = snd_gzip_end(&self->gzip);

    if (status == SND_OK && self->rest_count != 0) {
        put_group(self->rest, self->rest_count, group);
        snd_buffer_put(self->out, group, sizeof group);
    }
    return status == SND_OK ? snd_buffer_status(self->out) : status;
}

void
snd_page_put_whole(snd_page_pack *self, uint64_t value, int is_first)
{
    if (!is_first)
        snd_buffer_char(&self->gzip.bytes, ',');
    snd_buffer_number(&self->gzip.bytes, value);
}

void
snd_page_put_signed(snd_page_pack *self, int64_t value, int is_first)
{
    if (!is_first)
        snd_buffer_char(&self->gzip.bytes, ',');
    if (value < 0)
        snd_buffer_char(&self->gzip.bytes, '-');
    snd_buffer_number(&self->gzip.bytes, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* JSON has no infinities. */
void
snd_page_put_real(snd_page_pack *self, double value, int is_first)
{
    if (!is_first)
        snd_buffer_char(&self->gzip.bytes, ',');
    if (isfinite(value))
        snd_buffer_printf(&self->gzip.bytes, "%.15g", value);
    else
        snd_buffer_text(&self->gzip.bytes, "null");
}

/* What a browser opens within two seconds. */
#define NODE_LIMIT 200000u
#define EVENT_LIMIT 500000u

void
snd_page_say_pruned(snd_page_maker *self, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snd_buffer_printf(&self->pruned, "%s%s", self->pruned.size == 0 ? "" : " ", text);
}

/* The numbers that sum it up, so that the page and the terminal cannot differ. */
static void
put_facts(snd_page_maker *self)
{
    snd_facts facts = {0};
    (void)snd_work_found(snd_facts_make(self->profile, &(snd_view_options){0}, &facts));
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
#define FACT(name) {#name, facts.name},
        SND_FACT_MAP(FACT)
#undef FACT
    };

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        snd_buffer_printf(&self->pack.gzip.bytes, "%s\"%s\":%llu", i == 0 ? "\"facts\":{" : ",", numbers[i].name,
                          (unsigned long long)numbers[i].value);
    snd_buffer_text(&self->pack.gzip.bytes, "},\n");
}

static void
put_infos(snd_page_maker *self)
{
    const snd_profile *profile = self->profile;
    snd_buffer *out = &self->pack.gzip.bytes;

    snd_buffer_text(out, "{\"version\":1,\n\"infos\":{");
    for (uint32_t i = 0; i < profile->info_count; i++) {
        snd_buffer_text(out, i == 0 ? "" : ",");
        snd_json_string(out, profile->infos[i].key);
        snd_buffer_char(out, ':');
        snd_json_string(out, profile->infos[i].value);
    }
    snd_buffer_text(out, "},\n");
}

/* ---- files ---- */

/* Its text, or why there is none. */
static void
put_source(snd_page_maker *self, const char *file, uint32_t id, int *is_first)
{
    snd_buffer *out = &self->pack.gzip.bytes;
    snd_source_lines lines;

    snd_work_need(snd_source_open(self->profile, file, &lines));
    if (lines.text == NULL && snd_source_why(&lines) == NULL)
        return;
    snd_buffer_printf(out, "%s{\"file\":%u,\"%s\":", *is_first ? "" : ",\n", id,
                      lines.text == NULL ? "missing" : "text");
    snd_json_string(out, lines.text == NULL ? snd_source_why(&lines) : lines.text);
    snd_buffer_char(out, '}');
    *is_first = 0;
    snd_work_need(snd_page_pack_flush(&self->pack));
}

enum { NO_FILE, LIBRARY_FILE, OWN_FILE };

/* Which of the texts are files, and whose; they are in the order of the sites. */
static void
find_files(snd_page_maker *self, unsigned char **files)
{
    *files = snd_calloc((size_t)snd_intern_count(self->texts) + 1, 1);
    for (uint32_t i = 0; i < self->nodes.site_count; i++) {
        const snd_profile_site *site = &self->profile->sites[self->nodes.sites[i]];
        uint32_t id;
        if (*site->file == '\0' || site->kind == SND_SITE_NATIVE)
            continue;
        snd_work_need(snd_intern_add(self->texts, site->file, strlen(site->file), &id));
        (*files)[id] = snd_own_has(&self->own, site->file) ? OWN_FILE : LIBRARY_FILE;
    }
}

/* The names under which they are shown. */
static void
put_file_names(snd_page_maker *self, const unsigned char *files)
{
    snd_buffer *out = &self->pack.gzip.bytes;
    const char *comma = "";

    snd_buffer_text(out, "\"file_names\":[");
    for (uint32_t i = 0; i < snd_intern_count(self->texts); i++)
        if (files[i] != NO_FILE) {
            snd_buffer_printf(out, "%s[%u,", comma, i);
            snd_json_string(out, snd_own_name(&self->own, snd_intern_text(self->texts, i)));
            snd_buffer_char(out, ']');
            comma = ",";
        }
    snd_buffer_text(out, "],\n");
}

static void
put_files(snd_page_maker *self)
{
    unsigned char *files = NULL;
    int is_first = 1;

    find_files(self, &files);
    put_file_names(self, files);
    snd_buffer_text(&self->pack.gzip.bytes, "\"own_files\":[");
    for (uint32_t i = 0; i < snd_intern_count(self->texts); i++)
        if (files[i] == OWN_FILE) {
            snd_page_put_whole(&self->pack, i, is_first);
            is_first = 0;
        }
    snd_buffer_text(&self->pack.gzip.bytes, "],\n\"sources\":[");
    is_first = 1;
    for (uint32_t i = 0; i < snd_intern_count(self->texts) && !self->options->no_source; i++)
        if (files[i] == OWN_FILE)
            put_source(self, snd_intern_text(self->texts, i), i, &is_first);
    snd_buffer_text(&self->pack.gzip.bytes, "],\n");
}

static void
put_texts(snd_page_maker *self)
{

    snd_buffer_text(&self->pack.gzip.bytes, "\"texts\":[");
    for (uint32_t i = 0; i < snd_intern_count(self->texts); i++) {
        snd_buffer_text(&self->pack.gzip.bytes, i == 0 ? "" : ",");
        snd_json_string(&self->pack.gzip.bytes, snd_intern_text(self->texts, i));
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],\n");
}

/* ---- all ---- */

static void
put_pruned(snd_page_maker *self)
{
    uint32_t nodes = self->profile->node_count - self->nodes.kept_count;

    if (self->pruned.size == 0) {
        snd_buffer_text(&self->pack.gzip.bytes, "\"pruned\":null}\n");
        return;
    }
    snd_buffer_printf(&self->pack.gzip.bytes, "\"pruned\":{\"nodes\":%u,\"events\":%llu,\"rows\":%u,\"text\":", nodes,
                      (unsigned long long)self->pruned_events, self->pruned_rows);
    snd_json_string(&self->pack.gzip.bytes, snd_buffer_str(&self->pruned));
    snd_buffer_text(&self->pack.gzip.bytes, "}}\n");
}

static void
make(snd_page_maker *self)
{
    uint32_t limit = self->options->node_limit == 0 ? NODE_LIMIT : self->options->node_limit, empty;
    snd_page_choose_nodes(self->profile, limit, &self->nodes);

    if (self->nodes.kept_count != self->profile->node_count)
        snd_page_say_pruned(
            self,
            "The %u smallest of %u places in the call tree were merged into their callers; the tables still list them.",
            self->profile->node_count - self->nodes.kept_count, self->profile->node_count);
    self->texts = snd_intern_new();
    snd_work_need(snd_intern_add(self->texts, "", 0, &empty));
    put_infos(self);
    put_facts(self);
    snd_page_put_nodes(self);
    put_files(self);
    put_texts(self);
    snd_page_put_series(self);
    snd_page_put_events(self);
    snd_page_put_tables(self);
    snd_page_put_diff(self);
    put_pruned(self);
    snd_work_need(end_pack(&self->pack));
}

typedef struct question {
    const snd_profile *profile, *before;
    const snd_page_options *options;
    snd_buffer text;
} question;

static void
write_data(void *context)
{
    question *asked = context;
    snd_page_options chosen = *asked->options;
    snd_page_maker self = {.profile = asked->profile, .before = asked->before, .options = &chosen};

    if (chosen.event_limit == 0)
        chosen.event_limit = EVENT_LIMIT;
    snd_own_start(&self.own, asked->profile, &(snd_view_options){0});
    self.own.all_code = 0;
    snd_work_need(start_pack(&self.pack, &asked->text));
    make(&self);
}

snd_status
snd_page_data(const snd_profile *profile, const snd_profile *before, const snd_page_options *options, snd_buffer *out)
{
    question asked = {profile, before, options, {0}};

    return snd_work_write(write_data, &asked, &asked.text, out);
}

int
snd_page_exists(void)
{
    return snd_page_template_size != 0;
}

snd_status
snd_page_write(const snd_profile *const *profiles, unsigned count, const snd_page_options *options, snd_buffer *out)
{
    const char *place = snd_page_exists() ? strstr(snd_page_template, SND_PAGE_PLACE) : NULL;
    snd_status status = SND_OK;

    if (place == NULL)
        return SND_NO_DATA;
    snd_buffer_put(out, snd_page_template, (size_t)(place - snd_page_template));
    for (unsigned i = 0; i < count && status == SND_OK; i++) {
        snd_buffer_printf(out, "<script id=\"sonde-data%s\" type=\"application/octet-stream\">", i == 0 ? "" : "-2");
        status = snd_page_data(profiles[i], i == 0 ? NULL : profiles[0], options, out);
        snd_buffer_text(out, "</script>\n");
    }
    snd_buffer_text(out, place + strlen(SND_PAGE_PLACE));
    return status == SND_OK ? snd_buffer_status(out) : status;
}
