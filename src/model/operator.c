/* The details of operators' sites. */
#include "model/operator.h"

#include <stdlib.h>
#include <string.h>

/* A line, and what it says. */
#define NUMBER_MAP(X)       \
    X("\ndevice ", device)  \
    X("\nscope ", scope)    \
    X("\nasync ", is_async) \
    X("\nlegacy ", is_legacy)
#define OVERLOAD "\noverload "

void
snd_op_detail_write(const snd_op_detail *self, snd_buffer *out)
{
    snd_buffer_put(out, self->inputs, self->inputs_size);
    if (self->overload_size != 0) {
        snd_buffer_text(out, OVERLOAD);
        snd_buffer_put(out, self->overload, self->overload_size);
    }
#define WRITE(line, field) \
    if (self->field != 0)  \
        snd_buffer_printf(out, "%s%d", line, self->field);
    NUMBER_MAP(WRITE)
}

static int32_t
number_after(const char *text, const char *line)
{
    const char *found = strstr(text, line);
    return found == NULL ? 0 : (int32_t)strtol(found + strlen(line), NULL, 10);
}

snd_op_detail
snd_op_detail_read(const char *text)
{
    const char *more = strchrnul(text, '\n'), *overload = strstr(more, OVERLOAD);
    snd_op_detail self = {.inputs = text, .overload = "", .inputs_size = (size_t)(more - text)};

    if (overload != NULL) {
        self.overload = overload + strlen(OVERLOAD);
        self.overload_size = (size_t)(strchrnul(self.overload, '\n') - self.overload);
    }
#define READ(line, field) self.field = number_after(more, line);
    NUMBER_MAP(READ)
    return self;
}
