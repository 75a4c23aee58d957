/* The table of operators as PyTorch prints it, and as comma-separated values. Its widths, its order and its two
 * oddities are what its users' eyes, and their scripts, are used to; where something here looks strange, PyTorch does
 * it so. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "view/ops/ops.h"

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
    const snd_ops *ops;
    const snd_op_table_options *options;
    uint32_t *order;
    snd_buffer *out;
    column columns[MAX_COLUMNS];
    uint32_t column_count;
    int is_start; /* the columns are being made */
    int has_overloads, has_device_time, has_device_memory, has_shapes, has_stacks, has_flops;
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

/* Whether the columns are being made; then another one is. '@' in its title is the device. */
static int
is_made(printer *self, const char *title, size_t width)
{
    const char *rest = strchrnul(title, '@');

    if (self->is_start) {
        column *added = &self->columns[self->column_count++];
        snprintf(added->title, sizeof added->title, "%.*s%s%s", (int)(rest - title), title,
                 *rest == '\0' ? "" : self->device, *rest == '\0' ? "" : rest + 1);
        added->width = width;
    }
    return self->is_start;
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
put_time(printer *self, const char *title, double time_us)
{
    char text[64];

    format_time(self, time_us, text, sizeof text);
    if (!is_made(self, title, NUMBER_WIDTH))
        put_text(self, text);
}

static void
put_share(printer *self, const char *title, double part, double whole)
{
    char text[64] = "NaN";

    if (whole != 0)
        snprintf(text, sizeof text, "%.2f%%", part * 100.0 / whole);
    if (!is_made(self, title, NUMBER_WIDTH))
        put_text(self, text);
}

static void
put_bytes(printer *self, const char *title, double bytes)
{
    static const char *const units[] = {"GB", "MB", "KB"};
    double scale = 1024.0 * 1024.0 * 1024.0;
    char text[64];

    snprintf(text, sizeof text, "%.0f B", bytes);
    for (int i = 0; i < 3; i++, scale /= 1024.0) {
        if (fabs(bytes) >= scale) {
            snprintf(text, sizeof text, "%.2f %s", bytes / scale, units[i]);
            break;
        }
    }
    if (!is_made(self, title, NUMBER_WIDTH))
        put_text(self, text);
}

static void
put_count(printer *self, const char *title, uint64_t count)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)count);
    if (!is_made(self, title, NUMBER_WIDTH))
        put_text(self, text);
}

/* A name that is too long loses its end. */
static void
put_name(printer *self, const char *title, const char *name)
{
    size_t size = strlen(name), count = length(name, size);
    int64_t limit = self->options->max_name_width;

    if (is_made(self, title, self->name_width))
        return;
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
put_flops(printer *self, double flops)
{
    char text[64] = "--";

    if (flops != 0)
        snprintf(text, sizeof text, "%8.3f", flops * self->flops_scale);
    put_text(self, text);
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
put_numbers(printer *self, const snd_ops_row *row)
{
    put_share(self, "Self CPU %", row->self_cpu_us, self->cpu_us);
    put_time(self, "Self CPU", row->self_cpu_us);
    if (row->detail.is_async)
        put_text(self, "0");
    else
        put_share(self, "CPU total %", row->total_cpu_us, self->cpu_us);
    put_time(self, "CPU total", row->total_cpu_us);
    put_time(self, "CPU time avg", snd_op_cpu_average(row));
    if (self->has_device_time) {
        put_time(self, "Self @", row->self_device_us);
        put_share(self, "Self @ %", row->self_device_us, self->device_us);
        put_time(self, "@ total", row->total_device_us);
        put_time(self, "@ time avg", snd_op_device_average(row));
    }
    if (self->options->has_memory) {
        put_bytes(self, "CPU Mem", row->cpu_bytes);
        put_bytes(self, "Self CPU Mem", row->self_cpu_bytes);
    }
    if (self->options->has_memory && self->has_device_memory) {
        put_bytes(self, "@ Mem", row->device_bytes);
        put_bytes(self, "Self @ Mem", row->self_device_bytes);
    }
    put_count(self, "# of Calls", row->count);
}

static void
put_row(printer *self, const snd_ops_row *row)
{
    put_name(self, "Name", row->name);
    if (self->has_overloads)
        put_name(self, "Overload Name", row->overload);
    put_numbers(self, row);
    if (self->has_shapes && !is_made(self, "Input Shapes", self->shapes_width))
        put_cell(self, row->shapes, bytes_of(row->shapes, strlen(row->shapes), self->shapes_width));
    /* The titles of the next two are in the other order. */
    if (self->is_start)
        return;
    if (self->has_flops)
        put_flops(self, row->flops);
    if (self->has_stacks)
        put_place(self, row->stack, (size_t)(strchrnul(row->stack, '\n') - row->stack));
    end_row(self);
    if (self->has_stacks)
        put_stack(self, row->stack);
}

static void
make_columns(printer *self, const char *flops_title)
{
    self->is_start = 1;
    put_row(self, &(snd_ops_row){.name = "", .overload = "", .shapes = "", .stack = ""});
    if (self->has_stacks) {
        (void)is_made(self, "Source Location", self->source_width);
        self->columns[self->column_count - 1].is_left = 1;
    }
    if (self->has_flops)
        (void)is_made(self, flops_title, NUMBER_WIDTH);
    self->is_start = 0;
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
look_at(printer *self, const snd_ops_row *row, double *least_flops)
{
    self->has_overloads |= *row->overload != '\0';
    self->has_device_time |= row->self_device_us > 0;
    self->has_device_memory |= row->self_device_bytes > 0;
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
add_time(printer *self, const snd_ops_row *row)
{
    int32_t on = row->detail.device;
    int is_device = on == SND_OP_CUDA || on == SND_OP_PRIVATE || on == SND_OP_MTIA || on == SND_OP_XPU;

    self->cpu_us += row->self_cpu_us;
    if ((on == SND_OP_CPU && row->detail.is_legacy) || (is_device && !row->is_annotation))
        self->device_us += row->self_device_us;
}

static const char *
scale_flops(printer *self, double least)
{
    static const char *const units[] = {"Total FLOPs",  "Total KFLOPs", "Total MFLOPs",
                                        "Total GFLOPs", "Total TFLOPs", "Total PFLOPs"};

    self->has_flops = self->options->has_flops && least != 0;
    if (!self->has_flops)
        return "";
    double size = fmin(log10(least) / 3, 5.0);
    self->flops_scale = pow(10, floor(size) * -3.0);
    return units[(int)size];
}

static void
prepare(printer *self)
{
    const snd_op_table_options *options = self->options;
    double least_flops = 0;

    for (uint32_t i = 0; i < self->ops->count; i++) {
        look_at(self, &self->ops->rows[i], &least_flops);
        add_time(self, &self->ops->rows[self->order[i]]);
    }
    self->has_device_memory = self->has_device_memory && options->device != NULL;
    self->name_width = limited(self->name_width + 4, options->max_name_width);
    self->shapes_width = limited(self->shapes_width + 4, options->max_shapes_width);
    self->source_width = limited(self->source_width + 4, options->max_source_width);
    snprintf(self->device, sizeof self->device, "%s", options->device == NULL ? "None" : options->device);
    for (char *at = self->device; options->device != NULL && *at != '\0'; at++)
        *at = (char)toupper((unsigned char)*at);
    make_columns(self, scale_flops(self, least_flops));
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

    for (uint32_t i = 0; i < self->ops->count && shown != self->options->row_limit; i++) {
        const snd_ops_row *row = &self->ops->rows[self->order[i]];
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
snd_ops_text(const snd_ops *self, const snd_op_table_options *options, snd_buffer *out)
{
    printer writer = {.ops = self, .options = options, .out = out};

    if (options->time_unit != NULL && !is_unit(options->time_unit))
        return SND_BAD_ARGUMENT;
    snd_status status = snd_op_sort(self, options->sort_by, &writer.order);
    if (status != SND_OK)
        return status;
    if (self->count != 0) {
        prepare(&writer);
        put_titles(&writer);
        put_rows(&writer);
        put_footer(&writer);
    }
    snd_free(writer.order);
    return snd_buffer_status(out);
}

static void
put_values(snd_buffer *out, const snd_ops_row *row)
{
    const char *const texts[] = {row->name, row->overload, row->shapes, row->stack};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        snd_buffer_csv_text(out, texts[i]);
        snd_buffer_char(out, ',');
    }
    snd_buffer_printf(out, "%d,%d,%llu,", row->detail.device, row->is_annotation, (unsigned long long)row->count);
    snd_buffer_printf(out, "%.15g,%.15g,%.15g,", row->self_cpu_us, row->total_cpu_us, snd_op_cpu_average(row));
    snd_buffer_printf(out, "%.15g,%.15g,%.15g,", row->self_device_us, row->total_device_us, snd_op_device_average(row));
    snd_buffer_printf(out, "%.0f,%.0f,%.0f,%.0f,%.0f\n", row->cpu_bytes, row->self_cpu_bytes, row->device_bytes,
                      row->self_device_bytes, floor(row->flops));
}

snd_status
snd_ops_csv(const snd_ops *self, const char *sort_by, snd_buffer *out)
{
    uint32_t *order;
    snd_status status = snd_op_sort(self, sort_by, &order);

    if (status != SND_OK)
        return status;
    snd_buffer_text(out,
                    "name,overload_name,input_shapes,stack,device_type,is_user_annotation,count,self_cpu_time_total,"
                    "cpu_time_total,cpu_time,self_device_time_total,device_time_total,device_time,cpu_memory_usage,"
                    "self_cpu_memory_usage,device_memory_usage,self_device_memory_usage,flops\n");
    for (uint32_t i = 0; i < self->count; i++)
        put_values(out, &self->rows[order[i]]);
    snd_free(order);
    return snd_buffer_status(out);
}
