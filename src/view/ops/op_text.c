/* The table of operators as PyTorch prints it. Its widths, its order and its two oddities are what its users' eyes, and
 * their scripts, are used to; where something here looks strange, PyTorch does it so. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "view/ops/op_sort.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_WIDTH 12
#define SPACING 2
#define MAX_COLUMNS 24

typedef struct column {
    char title[64];
    size_t width;
    int is_left;
} column;

typedef struct printer {
    const snd_op_averages *rows;
    const snd_op_table_options *options;
    uint32_t *order;
    snd_buffer *out;
    column columns[MAX_COLUMNS];
    uint32_t column_count;
    int has_overloads, has_device_time, has_device_memory, has_nodes, has_shapes, has_stacks, has_flops;
    size_t name_width, shapes_width, source_width;
    double flops_scale;
    char device[32]; /* in capitals */
    double cpu_us, device_us;
    uint32_t cell; /* the next column of the row that is being written */
} printer;

static size_t
length(const char *text, size_t size)
{
    const char *end = text + size;
    size_t count = 0;

    for (; text < end; count++)
        (void)snd_utf8_next(&text, end);
    return count;
}

/* Bytes of the first `count` characters. */
static size_t
bytes_of(const char *text, size_t size, size_t count)
{
    const char *at = text, *end = text + size;

    while (at < end && count-- > 0)
        (void)snd_utf8_next(&at, end);
    return (size_t)(at - text);
}

static void
put_cell(printer *self, const char *text, size_t size)
{
    const column *about = &self->columns[self->cell++];
    size_t taken = length(text, size);
    size_t padding = taken < about->width ? about->width - taken : 0;

    if (!about->is_left)
        snd_buffer_repeat(self->out, ' ', padding);
    snd_buffer_put(self->out, text, size);
    snd_buffer_repeat(self->out, ' ', SPACING + (about->is_left ? padding : 0));
}

static void
put_text(printer *self, const char *text)
{
    put_cell(self, text, strlen(text));
}

static void
end_row(printer *self)
{
    snd_buffer_char(self->out, '\n');
    self->cell = 0;
}

static void
write_time(double time_us, const char *unit, char *text, size_t size)
{
    double scale = strcmp(unit, "s") == 0 ? 1e6 : strcmp(unit, "ms") == 0 ? 1e3 : 1;
    snprintf(text, size, "%.3f%s", time_us / scale, unit);
}

void
snd_op_time_text(double time_us, char *text, size_t size)
{
    write_time(time_us, time_us >= 1e6 ? "s" : time_us >= 1e3 ? "ms" : "us", text, size);
}

static void
format_time(const printer *self, double time_us, char *text, size_t size)
{
    if (self->options->time_unit == NULL)
        snd_op_time_text(time_us, text, size);
    else
        write_time(time_us, self->options->time_unit, text, size);
}

static void
put_time(printer *self, double time_us)
{
    char text[64];

    format_time(self, time_us, text, sizeof text);
    put_text(self, text);
}

static void
put_share(printer *self, double part, double whole)
{
    char text[64] = "NaN";

    if (whole != 0)
        snprintf(text, sizeof text, "%.2f%%", part * 100.0 / whole);
    put_text(self, text);
}

static void
put_bytes(printer *self, int64_t bytes)
{
    static const char *const units[] = {"GB", "MB", "KB"};
    double scale = 1024.0 * 1024.0 * 1024.0;
    char text[64];

    snprintf(text, sizeof text, "%lld B", (long long)bytes);
    for (int i = 0; i < 3; i++, scale /= 1024.0) {
        if (fabs((double)bytes) >= scale) {
            snprintf(text, sizeof text, "%.2f %s", (double)bytes / scale, units[i]);
            break;
        }
    }
    put_text(self, text);
}

static void
put_whole(printer *self, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)value);
    put_text(self, text);
}

/* A name that is too long loses its end. */
static void
put_name(printer *self, const char *name)
{
    size_t size = strlen(name), count = length(name, size);
    int64_t limit = self->options->max_name_width;

    if (limit < 0 || (int64_t)count < limit - 3) {
        put_cell(self, name, size);
        return;
    }
    int64_t kept = limit >= 3 ? limit - 3 : (int64_t)count + limit - 3;
    snd_buffer text = {0};
    snd_buffer_put(&text, name, bytes_of(name, size, kept < 0 ? 0 : (size_t)kept));
    snd_buffer_text(&text, "...");
    self->out->failed |= text.failed;
    put_cell(self, snd_buffer_str(&text), text.size);
    snd_buffer_free(&text);
}

/* A place that is too long loses its beginning. */
static void
put_place(printer *self, const char *place, size_t size)
{
    size_t count = length(place, size);
    if (count <= self->source_width) {
        put_cell(self, place, size);
        return;
    }
    size_t dots = self->source_width > 3 ? 3 : 0;
    size_t skipped = bytes_of(place, size, count - self->source_width + dots);
    snd_buffer text = {0};
    snd_buffer_text(&text, dots == 0 ? "" : "...");
    snd_buffer_put(&text, place + skipped, size - skipped);
    self->out->failed |= text.failed;
    put_cell(self, snd_buffer_str(&text), text.size);
    snd_buffer_free(&text);
}

static void
put_shapes(printer *self, const char *shapes)
{
    put_cell(self, shapes, bytes_of(shapes, strlen(shapes), self->shapes_width));
}

static void
put_flops(printer *self, uint64_t flops)
{
    char text[64] = "--";

    if (flops != 0)
        snprintf(text, sizeof text, "%8.3f", (double)flops * self->flops_scale);
    put_text(self, text);
}

static void
put_device_times(printer *self, const snd_op_average *row)
{
    put_time(self, row->self_device_us);
    put_share(self, row->self_device_us, self->device_us);
    put_time(self, row->total_device_us);
    put_time(self, snd_op_device_average(row));
}

static void
put_memory(printer *self, const snd_op_average *row)
{
    put_bytes(self, row->cpu_bytes);
    put_bytes(self, row->self_cpu_bytes);
    if (self->has_device_memory) {
        put_bytes(self, row->device_bytes);
        put_bytes(self, row->self_device_bytes);
    }
}

/* The other lines of a stack stand below the first, in the last column whatever that is; then comes an empty line. */
static void
put_stack(printer *self, const char *stack)
{
    const char *line = strchr(stack, '\n');

    while (line != NULL) {
        const char *end = strchrnul(++line, '\n');
        while (self->cell < self->column_count - 1)
            put_text(self, "");
        put_place(self, line, (size_t)(end - line));
        end_row(self);
        line = *end == '\0' ? NULL : end;
    }
    while (self->cell < self->column_count)
        put_text(self, "");
    end_row(self);
}

static void
put_row(printer *self, const snd_op_average *row)
{
    put_name(self, row->name);
    if (self->has_overloads)
        put_name(self, row->overload);
    put_share(self, row->self_cpu_us, self->cpu_us);
    put_time(self, row->self_cpu_us);
    if (row->is_async)
        put_text(self, "0");
    else
        put_share(self, row->total_cpu_us, self->cpu_us);
    put_time(self, row->total_cpu_us);
    put_time(self, snd_op_cpu_average(row));
    if (self->has_device_time)
        put_device_times(self, row);
    if (self->options->has_memory)
        put_memory(self, row);
    put_whole(self, (int64_t)row->count);
    if (self->has_nodes)
        put_whole(self, row->node);
    if (self->has_shapes)
        put_shapes(self, row->shapes);
    /* The titles of these two are in the other order. */
    if (self->has_flops)
        put_flops(self, row->flops);
    if (self->has_stacks)
        put_place(self, row->stack, (size_t)(strchrnul(row->stack, '\n') - row->stack));
    end_row(self);
    if (self->has_stacks)
        put_stack(self, row->stack);
}

static void
add_column(printer *self, size_t width, int is_left, const char *before, const char *after)
{
    column *added = &self->columns[self->column_count++];

    snprintf(added->title, sizeof added->title, "%s%s", before, after);
    added->width = width;
    added->is_left = is_left;
}

static void
add_device_column(printer *self, const char *before, const char *after)
{
    char start[40];

    snprintf(start, sizeof start, "%s%s", before, self->device);
    add_column(self, NUMBER_WIDTH, 0, start, after);
}

static void
add_columns(printer *self, const char *flops_unit)
{
    static const char *const cpu[] = {"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"};

    add_column(self, self->name_width, 0, "Name", "");
    if (self->has_overloads)
        add_column(self, self->name_width, 0, "Overload Name", "");
    for (size_t i = 0; i < sizeof cpu / sizeof *cpu; i++)
        add_column(self, NUMBER_WIDTH, 0, cpu[i], "");
    if (self->has_device_time) {
        add_device_column(self, "Self ", "");
        add_device_column(self, "Self ", " %");
        add_device_column(self, "", " total");
        add_device_column(self, "", " time avg");
    }
    if (self->options->has_memory) {
        add_column(self, NUMBER_WIDTH, 0, "CPU Mem", "");
        add_column(self, NUMBER_WIDTH, 0, "Self CPU Mem", "");
        if (self->has_device_memory) {
            add_device_column(self, "", " Mem");
            add_device_column(self, "Self ", " Mem");
        }
    }
    add_column(self, NUMBER_WIDTH, 0, "# of Calls", "");
    if (self->has_nodes)
        add_column(self, NUMBER_WIDTH, 0, "Node ID", "");
    if (self->has_shapes)
        add_column(self, self->shapes_width, 0, "Input Shapes", "");
    if (self->has_stacks)
        add_column(self, self->source_width, 1, "Source Location", "");
    if (self->has_flops)
        add_column(self, NUMBER_WIDTH, 0, "Total ", flops_unit);
}

static size_t
limited(size_t width, int limit)
{
    return limit >= 0 && width > (size_t)limit ? (size_t)limit : width;
}

static size_t
longest_line(const char *text)
{
    size_t longest = 0;

    while (*text != '\0') {
        const char *end = strchrnul(text, '\n');
        size_t taken = length(text, (size_t)(end - text));
        longest = taken > longest ? taken : longest;
        text = *end == '\0' ? end : end + 1;
    }
    return longest;
}

static size_t
larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void
look_at(printer *self, const snd_op_average *row, uint64_t *least_flops)
{
    self->has_overloads |= *row->overload != '\0';
    self->has_device_time |= row->self_device_us > 0;
    self->has_device_memory |= row->self_device_bytes > 0;
    self->has_nodes |= row->node != -1;
    self->has_shapes |= *row->shapes != '\0' && strcmp(row->shapes, "[]") != 0;
    self->has_stacks |= *row->stack != '\0';
    self->name_width = larger(self->name_width, length(row->name, strlen(row->name)));
    self->shapes_width = larger(self->shapes_width, length(row->shapes, strlen(row->shapes)));
    self->source_width = larger(self->source_width, longest_line(row->stack));
    if (row->flops != 0 && (*least_flops == 0 || row->flops < *least_flops))
        *least_flops = row->flops;
}

/* Adds in the order of the table: the last digit depends on it. */
static void
add_time(printer *self, const snd_op_average *row)
{
    int is_device = row->device == SND_OP_CUDA || row->device == SND_OP_PRIVATE || row->device == SND_OP_MTIA ||
                    row->device == SND_OP_XPU;

    self->cpu_us += row->self_cpu_us;
    if ((row->device == SND_OP_CPU && row->is_legacy) || (is_device && !row->is_annotation))
        self->device_us += row->self_device_us;
}

static const char *
scale_flops(printer *self, uint64_t least)
{
    static const char *const units[] = {"FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"};

    self->has_flops = self->options->has_flops && least != 0;
    if (!self->has_flops)
        return "";
    double size = fmin(log10((double)least) / 3, 5.0);
    self->flops_scale = pow(10, floor(size) * -3.0);
    return units[(int)size];
}

static void
prepare(printer *self)
{
    const snd_op_table_options *options = self->options;
    uint64_t least_flops = 0;

    for (uint32_t i = 0; i < snd_op_averages_count(self->rows); i++) {
        look_at(self, snd_op_averages_at(self->rows, i), &least_flops);
        add_time(self, snd_op_averages_at(self->rows, self->order[i]));
    }
    self->has_device_memory = self->has_device_memory && options->device != NULL;
    self->name_width = limited(self->name_width + 4, options->max_name_width);
    self->shapes_width = limited(self->shapes_width + 4, options->max_shapes_width);
    self->source_width = limited(self->source_width + 4, options->max_source_width);
    snprintf(self->device, sizeof self->device, "%s", options->device == NULL ? "None" : options->device);
    for (char *at = self->device; options->device != NULL && *at != '\0'; at++)
        *at = (char)toupper((unsigned char)*at);
    add_columns(self, scale_flops(self, least_flops));
}

static void
put_line(printer *self)
{
    for (uint32_t i = 0; i < self->column_count; i++) {
        snd_buffer_repeat(self->out, '-', self->columns[i].width);
        snd_buffer_repeat(self->out, ' ', SPACING);
    }
    end_row(self);
}

static void
put_heading(printer *self, const char *text)
{
    size_t width = 0;

    for (uint32_t i = 0; i < self->column_count; i++)
        width += self->columns[i].width + SPACING;
    snd_buffer_repeat(self->out, '=', width - SPACING);
    snd_buffer_char(self->out, '\n');
    snd_buffer_text(self->out, text);
    snd_buffer_char(self->out, '\n');
}

static void
put_titles(printer *self)
{
    if (self->options->header != NULL)
        put_heading(self, self->options->header);
    if (self->options->top_level_only)
        put_heading(self, "This report only display top-level ops statistics");
    put_line(self);
    for (uint32_t i = 0; i < self->column_count; i++)
        put_text(self, self->columns[i].title);
    end_row(self);
    put_line(self);
}

static void
put_rows(printer *self)
{
    int64_t shown = 0;

    for (uint32_t i = 0; i < snd_op_averages_count(self->rows) && shown != self->options->row_limit; i++) {
        const snd_op_average *row = snd_op_averages_at(self->rows, self->order[i]);
        if (self->options->top_level_only && row->has_parent)
            continue;
        put_row(self, row);
        shown++;
    }
}

static void
put_footer(printer *self)
{
    char text[64];

    put_line(self);
    format_time(self, self->cpu_us, text, sizeof text);
    snd_buffer_printf(self->out, "Self CPU time total: %s\n", text);
    if (self->has_device_time) {
        format_time(self, self->device_us, text, sizeof text);
        snd_buffer_printf(self->out, "Self %s time total: %s\n", self->device, text);
    }
}

static int
is_unit(const char *text)
{
    return strcmp(text, "s") == 0 || strcmp(text, "ms") == 0 || strcmp(text, "us") == 0;
}

snd_status
snd_op_averages_text(const snd_op_averages *self, const snd_op_table_options *options, snd_buffer *out)
{
    printer writer = {.rows = self, .options = options, .out = out};

    if (options->time_unit != NULL && !is_unit(options->time_unit))
        return SND_BAD_ARGUMENT;
    snd_status status = snd_op_sort(self, options->sort_by, &writer.order);
    if (status != SND_OK)
        return status;
    if (snd_op_averages_count(self) != 0) {
        prepare(&writer);
        put_titles(&writer);
        put_rows(&writer);
        put_footer(&writer);
    }
    snd_free(writer.order);
    return snd_buffer_status(out);
}
