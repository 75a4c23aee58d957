/* The recordings of the processes that a measured program started. */
#include "collect/parts.h"

#include "base/alloc.h"
#include "os/clock.h"
#include "os/process.h"
#include "store/merge.h"
#include "store/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *
snd_part_path(const char *folder)
{
    snd_buffer path = {0};

    (void)mkdir(folder, 0777); /* opening the file tells when that failed */
    /* the time: a process that runs another program makes a second part */
    snd_buffer_printf(&path, "%s/%u-%llu.sonde", folder, snd_process_id(),
                      (unsigned long long)snd_clock_monotonic_ns());
    if (path.failed)
        snd_buffer_free(&path);
    return path.data;
}

/* ---- what a folder has ---- */

/* Paths of recordings. The first is that which the parts belong to. */
typedef struct part_list {
    char **paths;
    uint32_t count, room;
} part_list;

static void
free_list(part_list *self)
{
    for (uint32_t i = 0; i < self->count; i++)
        snd_free(self->paths[i]);
    snd_free(self->paths);
    *self = (part_list){0};
}

/* Takes `path`, which may be NULL when memory ran out. */
static snd_status
add_path(part_list *self, char *path)
{
    if (path == NULL || !snd_make_room(&self->paths, self->count + 1, &self->room, sizeof *self->paths)) {
        snd_free(path);
        return SND_NO_MEMORY;
    }
    self->paths[self->count++] = path;
    return SND_OK;
}

/* What a recording says of its process. */
typedef struct part_info {
    int is_there, is_complete;
    uint64_t cpu_ns, cpu_before_ns;
} part_info;

static snd_status
take_names(void *context, int count, const char *const *names)
{
    (void)context, (void)count, (void)names;
    return SND_OK;
}

static snd_status
take_info(void *context, int count, const snd_query_cell *cells)
{
    part_info *self = context;

    if (count != 2 || cells[0].type != SND_QUERY_TEXT || cells[1].type != SND_QUERY_TEXT)
        return SND_OK;
    uint64_t number = strtoull(cells[1].text, NULL, 10);
    if (strcmp(cells[0].text, "process_cpu_ns") == 0) {
        self->is_there = 1;
        self->cpu_ns = number;
    }
    else if (strcmp(cells[0].text, "process_cpu_before_ns") == 0)
        self->cpu_before_ns = number;
    else
        self->is_complete = number != 0;
    return SND_OK;
}

static part_info
read_info(const char *path)
{
    static const char sql[] =
        "select key, value from info where key in ('process_cpu_ns', 'process_cpu_before_ns', 'complete')";
    snd_reader *reader = NULL;
    part_info info = {0};

    if (snd_reader_open(path, &reader) != SND_OK ||
        snd_reader_query(reader, sql, take_names, take_info, &info) != SND_OK)
        info = (part_info){0};
    snd_reader_free(reader);
    return info;
}

typedef enum part_state { PART_ENDED, PART_RUNS, PART_LOST } part_state;

/* What a part is about, and whether its process still adds to it. */
static part_state
look_at(const char *path, uint64_t *measured_ns)
{
    part_info info = read_info(path);
    const char *process = strrchr(path, '/') + 1;

    if (!info.is_complete && snd_process_runs((uint32_t)strtoul(process, NULL, 10)))
        return PART_RUNS;
    if (!info.is_there)
        return PART_LOST;
    *measured_ns += info.cpu_ns > info.cpu_before_ns ? info.cpu_ns - info.cpu_before_ns : 0;
    return PART_ENDED; /* or killed: the last checkpoint is what there is */
}

static snd_status
add_part(char *path, part_list *list, part_list *lost, snd_parts_gathered *out)
{
    switch (path == NULL ? PART_LOST : look_at(path, &out->measured_ns)) {
    case PART_ENDED:
        out->parts++;
        return add_path(list, path);
    case PART_LOST:
        out->lost++;
        return add_path(lost, path);
    default:
        out->running++;
        snd_free(path);
        return SND_OK;
    }
}

static char *
path_in(const char *folder, const char *name)
{
    snd_buffer path = {0};

    snd_buffer_printf(&path, "%s/%s", folder, name);
    if (path.failed)
        snd_buffer_free(&path);
    return path.data;
}

/* The recording that a folder of parts is named after. */
static char *
path_without_suffix(const char *folder)
{
    char *path = snd_strdup(folder);

    if (path != NULL)
        path[strlen(folder) - strlen(SND_PARTS_SUFFIX)] = '\0';
    return path;
}

static int
is_recording(const char *name)
{
    size_t len = strlen(name);
    return len > 6 && strcmp(name + len - 6, ".sonde") == 0;
}

/* SND_OK when there is no such folder. */
static snd_status
list_parts(const char *folder, part_list *list, part_list *lost, snd_parts_gathered *out)
{
    DIR *open_folder = opendir(folder);
    snd_status status = SND_OK;

    if (open_folder == NULL)
        return errno == ENOENT ? SND_OK : SND_SYSTEM;
    for (const struct dirent *entry; status == SND_OK && (entry = readdir(open_folder)) != NULL;)
        if (is_recording(entry->d_name))
            status = add_part(path_in(folder, entry->d_name), list, lost, out);
    closedir(open_folder);
    return status;
}

snd_status
snd_parts_look(const char *folder, snd_parts_gathered *out)
{
    part_list list = {0}, lost = {0};

    *out = (snd_parts_gathered){0};
    snd_status status = list_parts(folder, &list, &lost, out);
    free_list(&list);
    free_list(&lost);
    return status;
}

/* ---- putting them together ---- */

static void
remove_all(const part_list *list, uint32_t from)
{
    for (uint32_t i = from; i < list->count; i++)
        (void)unlink(list->paths[i]);
}

static snd_status
merge(const part_list *list, snd_buffer *message)
{
    snd_merge_result result = {0};

    if (list->count < 2)
        return SND_OK;
    snd_status status = snd_merge_files(list->paths[0], (const char *const *)list->paths, list->count, &result);
    if (status == SND_OK)
        remove_all(list, 1);
    else
        snd_buffer_printf(message, "%s: cannot be merged: %s; the parts stay in %s" SND_PARTS_SUFFIX,
                          result.failed == NULL ? "" : result.failed, snd_status_detail(status, errno), list->paths[0]);
    return status;
}

snd_status
snd_parts_gather(const char *folder, snd_parts_gathered *out, snd_buffer *message)
{
    part_list list = {0}, lost = {0};

    *out = (snd_parts_gathered){0};
    snd_status status = add_path(&list, path_without_suffix(folder));
    if (status == SND_OK)
        status = list_parts(folder, &list, &lost, out);
    if (status == SND_OK)
        status = merge(&list, message);
    if (status == SND_OK)
        remove_all(&lost, 0);
    (void)rmdir(folder); /* stays while anything is in it */
    free_list(&list);
    free_list(&lost);
    return status;
}
