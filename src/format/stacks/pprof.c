/* A profile for pprof: gzip around a message Profile of https://github.com/google/pprof, proto/profile.proto. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "format/stacks/gzip.h"
#include "format/stacks/protobuf.h"
#include "format/stacks/stacks.h"
#include "format/table/format.h"

/* Numbers of fields. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING };
enum {
    PROFILE_TIME = 9,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_DEFAULT_SAMPLE_TYPE
};
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILES, MAPPING_HAS_LINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_START };

typedef struct profiling {
    const snd_profile *profile;
    const snd_export_options *options;
    snd_stacks stacks;
    snd_cost costs[SND_COST_COUNT]; /* those that are written */
    unsigned cost_count;
    snd_intern *texts;     /* the table of strings; the first is empty */
    snd_intern *functions; /* name, file and start in one text each */
    snd_buffer text, message, part;
    snd_gzip out;
} profiling;

static uint32_t
text_of(profiling *self, const char *text)
{
    uint32_t id = 0;

    snd_buffer_clear(&self->text);
    snd_utf8_put(text, &self->text);
    snd_work_need(snd_intern_add(self->texts, snd_buffer_str(&self->text), self->text.size, &id));
    return id;
}

/* Ends a message of the profile. */
static void
end_message(profiling *self, unsigned field)
{
    snd_protobuf_message(&self->out.bytes, field, &self->message);
    snd_work_need(snd_gzip_flush(&self->out));
}

/* ---- samples ---- */

static void
put_type(profiling *self, unsigned field, snd_cost cost)
{
    snd_protobuf_number(&self->message, TYPE_NAME, text_of(self, snd_costs[cost].name));
    snd_protobuf_number(&self->message, TYPE_UNIT, text_of(self, snd_costs[cost].unit));
    snd_protobuf_message(&self->out.bytes, field, &self->message);
}

static void
put_label(profiling *self, const char *key, const char *text, uint64_t number)
{
    snd_protobuf_number(&self->part, LABEL_KEY, text_of(self, key));
    snd_protobuf_number(&self->part, LABEL_TEXT, text == NULL ? 0 : text_of(self, text));
    snd_protobuf_number(&self->part, LABEL_NUMBER, number);
    snd_protobuf_message(&self->message, SAMPLE_LABEL, &self->part);
}

static void
put_labels(profiling *self, const snd_profile_track *track)
{
    put_label(self, "thread", track->name, 0);
    put_label(self, "thread_id", NULL, track->thread_id);
    if (track->process_id != 0) /* not a sum over processes */
        put_label(self, "process", NULL, track->process_id);
    if (snd_profile_info(self->profile, "rank") != NULL)
        put_label(self, "rank", snd_profile_info(self->profile, "rank"), 0);
}

/* Innermost first. A location is a frame. */
static void
put_locations(profiling *self, uint32_t stack)
{
    const snd_stacks_entry *stacks = self->stacks.stacks;
    uint32_t frame;

    if (stacks[stack].frame == SND_NONE) {
        snd_work_need(snd_stacks_outside(&self->stacks, &frame));
        snd_varint_put(&self->part, (uint64_t)frame + 1);
        return;
    }
    for (; stacks[stack].frame != SND_NONE; stack = stacks[stack].parent)
        snd_varint_put(&self->part, (uint64_t)stacks[stack].frame + 1);
}

static void
put_sample(profiling *self, const snd_profile *tree, uint32_t stack)
{
    snd_cost_values values = snd_cost_read(tree->nodes[stack].present, tree->columns, stack);
    uint64_t any = 0;

    for (unsigned i = 0; i < self->cost_count; i++)
        any |= values.of[self->costs[i]];
    if (any == 0)
        return;
    put_locations(self, stack);
    snd_protobuf_message(&self->message, SAMPLE_LOCATION, &self->part);
    for (unsigned i = 0; i < self->cost_count; i++)
        snd_varint_put(&self->part, values.of[self->costs[i]]);
    snd_protobuf_message(&self->message, SAMPLE_VALUE, &self->part);
    put_labels(self, &self->profile->tracks[self->stacks.stacks[stack].track]);
    end_message(self, PROFILE_SAMPLE);
}

/* Each stack as it is first met, then what was waited for in it. */
static void
put_samples(profiling *self)
{
    const snd_stacks *stacks = &self->stacks;
    uint32_t first = stacks->stack_count, frame;
    snd_profile tree;

    int has_time = (snd_stacks_known(self->profile) >> SND_COST_TIME & 1) != 0;
    for (uint32_t i = 0; i < self->profile->node_count && has_time; i++) /* its frame comes before those of waiting */
        if (self->profile->nodes[i].parent == SND_NONE && snd_profile_whole(self->profile, i, SND_METRIC_SELF) != 0)
            snd_work_need(snd_stacks_outside(&self->stacks, &frame));
    snd_stacks_tree(&self->stacks, self->profile, self->options->cpu_only, &tree);
    uint32_t *waiting = snd_new(first, sizeof *waiting); /* per stack: the first that was waited in */
    unsigned char *is_done = snd_new(first, 1);
    for (uint32_t i = tree.node_count; i-- > first;)
        waiting[tree.nodes[i].parent] = i;
    for (uint32_t i = 0; i < stacks->node_count; i++) {
        uint32_t stack = stacks->of_node[i];
        if (stack == SND_NONE || is_done[stack])
            continue;
        is_done[stack] = 1;
        put_sample(self, &tree, stack);
        for (uint32_t j = waiting[stack]; j != 0 && j < tree.node_count && tree.nodes[j].parent == stack; j++)
            put_sample(self, &tree, j);
    }
}

/* ---- places ---- */

/* A function is its name, its file and where it starts; `is_new`: it was not met before. */
static uint32_t
function_of(profiling *self, const snd_stacks_frame *frame, int *is_new)
{
    uint32_t count = snd_intern_count(self->functions), id = 0;

    snd_buffer_clear(&self->text);
    snd_buffer_put(&self->text, frame->name, strlen(frame->name) + 1);
    snd_buffer_put(&self->text, frame->file, strlen(frame->file) + 1);
    snd_buffer_number(&self->text, frame->first_line);
    snd_work_need(snd_intern_add(self->functions, self->text.data, self->text.size, &id));
    *is_new = snd_intern_count(self->functions) != count;
    return id + 1;
}

static void
put_function(profiling *self, const snd_stacks_frame *frame, uint32_t id)
{
    uint32_t name = text_of(self, frame->name);

    snd_protobuf_number(&self->message, FUNCTION_ID, id);
    snd_protobuf_number(&self->message, FUNCTION_NAME, name);
    snd_protobuf_number(&self->message, FUNCTION_SYSTEM_NAME, name);
    snd_protobuf_number(&self->message, FUNCTION_FILE, text_of(self, frame->file));
    snd_protobuf_number(&self->message, FUNCTION_START, frame->first_line);
    end_message(self, PROFILE_FUNCTION);
}

static void
put_location(profiling *self, uint32_t frame)
{
    const snd_stacks_frame *about = &self->stacks.frames[frame];
    int is_new;
    uint32_t function = function_of(self, about, &is_new);

    snd_protobuf_number(&self->part, LINE_FUNCTION, function);
    snd_protobuf_number(&self->part, LINE_LINE, about->line);
    snd_protobuf_number(&self->message, LOCATION_ID, (uint64_t)frame + 1);
    snd_protobuf_number(&self->message, LOCATION_MAPPING, 1);
    snd_protobuf_message(&self->message, LOCATION_LINE, &self->part);
    end_message(self, PROFILE_LOCATION);
    if (is_new)
        put_function(self, about, function);
}

static void
put_places(profiling *self)
{
    const char *program = snd_profile_info(self->profile, "program");

    snd_protobuf_number(&self->message, MAPPING_ID, 1);
    snd_protobuf_number(&self->message, MAPPING_FILE, text_of(self, program == NULL ? "" : program));
    snd_protobuf_number(&self->message, MAPPING_HAS_FUNCTIONS, 1);
    snd_protobuf_number(&self->message, MAPPING_HAS_FILES, 1);
    snd_protobuf_number(&self->message, MAPPING_HAS_LINES, 1);
    end_message(self, PROFILE_MAPPING);
    for (uint32_t i = 0; i < self->stacks.frame_count; i++)
        put_location(self, i);
}

/* ---- the rest ---- */

static void
put_comment(profiling *self, const char *key)
{
    const char *value = snd_profile_info(self->profile, key);
    snd_buffer text = {0};

    if (value == NULL || *value == '\0')
        return;
    snd_buffer_printf(&text, "%s: %s", key, value);
    snd_protobuf_number(&self->out.bytes, PROFILE_COMMENT, text_of(self, snd_buffer_str(&text)));
    snd_buffer_free(&text);
}

static void
put_facts(profiling *self, snd_cost first)
{
    static const char *const comments[] = {"sonde", "python", "arguments", "host", "probes", "note"};
    snd_buffer *out = &self->out.bytes;
    uint64_t rate = snd_profile_info_number(self->profile, "sample_rate_hz");

    snd_protobuf_number(out, PROFILE_TIME, snd_profile_info_number(self->profile, "start_realtime_ns"));
    snd_protobuf_number(out, PROFILE_DURATION, snd_profile_info_number(self->profile, "length_ns"));
    if (rate != 0) {
        put_type(self, PROFILE_PERIOD_TYPE, SND_COST_WALL);
        snd_protobuf_number(out, PROFILE_PERIOD, UINT64_C(1000000000) / rate);
    }
    for (size_t i = 0; i < sizeof comments / sizeof comments[0]; i++)
        put_comment(self, comments[i]);
    if (first != SND_COST_COUNT)
        snd_protobuf_number(out, PROFILE_DEFAULT_SAMPLE_TYPE, text_of(self, snd_costs[first].name));
}

static void
put_texts(profiling *self)
{
    for (uint32_t i = 0; i < snd_intern_count(self->texts); i++) {
        const char *text = snd_intern_text(self->texts, i);
        snd_protobuf_bytes(&self->out.bytes, PROFILE_STRING, text, strlen(text));
        snd_work_need(snd_gzip_flush(&self->out));
    }
}

static void
choose_costs(profiling *self)
{
    unsigned known = snd_stacks_known(self->profile);

    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        if ((known >> i & 1) != 0 && !(self->options->cpu_only && i == SND_COST_WALL))
            self->costs[self->cost_count++] = (snd_cost)i;
}

static void
put_all(profiling *self)
{
    text_of(self, "");
    for (unsigned i = 0; i < self->cost_count; i++)
        put_type(self, PROFILE_SAMPLE_TYPE, self->costs[i]);
    put_facts(self, snd_export_cost(self->profile, self->options));
    put_samples(self);
    put_places(self);
    put_texts(self);
    snd_work_need(snd_gzip_end(&self->out));
}

static snd_status
write_packed(void *context, const unsigned char *packed, size_t size)
{
    return snd_write_all(*(const int *)context, packed, size);
}

static void
write_recording(const snd_profile *profile, const snd_export_options *options, int file)
{
    profiling self = {.profile = profile, .options = options, .stacks = {.by_line = 1}};

    choose_costs(&self);
    if (self.cost_count == 0)
        snd_work_end(SND_NO_DATA);
    snd_work_need(snd_gzip_start(&self.out, Z_DEFAULT_STRATEGY, write_packed, &file));
    self.texts = snd_intern_new();
    self.functions = snd_intern_new();
    snd_work_need(snd_stacks_update(&self.stacks, profile));
    put_all(&self);
}

SND_FORMAT_WORK(pprof, write_recording)
