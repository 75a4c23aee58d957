/* The processes that this one starts, and their recordings. */
#include "collect/children.h"

#include "base/alloc.h"
#include "collect/extras.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/worker.h"
#include "store/merge/merge_files.h"
#include "store/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOURNAL "-journal"
#define NOTES_LIMIT (1u << 20)

/* ---- the folder ---- */

/* The recording that a folder of parts is named after. The caller frees it. */
static char *
path_without_suffix(const char *folder)
{
    char *path = snd_strdup(folder);

    if (path != NULL)
        path[strlen(folder) - strlen(SND_PARTS_SUFFIX)] = '\0';
    return path;
}

/* Whoever created the recording: we, or the process that measures us. Where all files of a disk seem to be of one user,
 * whoever makes them, that is also the owner of the folder. */
static uid_t
owner_of(const char *folder)
{
    struct stat about;
    char *recording = path_without_suffix(folder);
    uid_t owner =
        recording != NULL && lstat(recording, &about) == 0 && S_ISREG(about.st_mode) ? about.st_uid : geteuid();

    snd_free(recording);
    return owner;
}

/* The open folder; NULL and `*error`, as of errno. EEXIST: what is there is no folder of this user. */
static DIR *
open_folder(const char *folder, uid_t owner, int *error)
{
    struct stat about;
    DIR *listing = NULL;
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    *error = file < 0 ? errno : 0;
    int is_there = (file < 0 ? lstat(folder, &about) : fstat(file, &about)) == 0;
    if (is_there && (!S_ISDIR(about.st_mode) || about.st_uid != owner))
        *error = EEXIST;
    else if (file >= 0 && (listing = fdopendir(file)) == NULL)
        *error = errno;
    if (file >= 0 && listing == NULL)
        close(file);
    return listing;
}

snd_status
snd_parts_make(const char *folder, snd_buffer *message)
{
    uid_t owner = owner_of(folder);
    int is_made = mkdir(folder, 0700) == 0;
    int error = is_made ? 0 : errno;
    DIR *listing = is_made || error == EEXIST ? open_folder(folder, owner, &error) : NULL;

    if (listing != NULL) {
        closedir(listing);
        return SND_OK;
    }
    if (is_made) /* we are no longer who began */
        (void)rmdir(folder);
    if (is_made || error == EACCES || error == EPERM)
        snd_buffer_printf(message, "%s: process %u runs as user %u and cannot write there; it is not profiled", folder,
                          snd_process_id(), (unsigned)geteuid());
    else if (error == EEXIST)
        snd_buffer_printf(message, "%s: owned by another user; process %u is not profiled", folder, snd_process_id());
    else
        snd_buffer_printf(message, "%s: cannot be written: %s", folder, snd_status_detail(SND_SYSTEM, error));
    errno = error;
    return error == EEXIST ? SND_NOT_OURS : SND_SYSTEM;
}

snd_status
snd_part_path(const char *folder, char **out, snd_buffer *message)
{
    snd_buffer path = {0};
    snd_status status = snd_parts_make(folder, message);

    if (status != SND_OK)
        return status;
    /* the time: a process that runs another program makes a second part */
    snd_buffer_printf(&path, "%s/%u-%llu.sonde", folder, snd_process_id(),
                      (unsigned long long)snd_clock_monotonic_ns());
    if (path.failed)
        snd_buffer_free(&path);
    *out = path.data;
    return *out == NULL ? SND_NO_MEMORY : SND_OK;
}

/* What a name in the folder is of. */
typedef enum name_kind { NAME_OTHER, NAME_PART, NAME_JOURNAL, NAME_NOTES } name_kind;

/* A part is PROCESS-TIME.sonde. */
static name_kind
kind_of(const char *name, uint32_t *process)
{
    const char *digits = "0123456789";
    size_t first = strspn(name, digits), second = name[first] == '-' ? strspn(name + first + 1, digits) : 0;
    const char *end = name + first + 1 + second;

    if (strcmp(name, SND_PARTS_NOTES) == 0)
        return NAME_NOTES;
    if (first == 0 || second == 0)
        return NAME_OTHER;
    *process = (uint32_t)strtoul(name, NULL, 10);
    return strcmp(end, ".sonde") == 0 ? NAME_PART : strcmp(end, ".sonde" JOURNAL) == 0 ? NAME_JOURNAL : NAME_OTHER;
}

/* Whether the folder has the part of this journal. */
static int
has_part(int folder, const char *journal)
{
    struct stat about;
    char part[64];

    snprintf(part, sizeof part, "%.*s", (int)(strlen(journal) - strlen(JOURNAL)), journal);
    return fstatat(folder, part, &about, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Removes what is left of processes that have ended, parts too if `all`. */
static void
remove_left(DIR *listing, int all)
{
    int folder = dirfd(listing);
    uint32_t process = 0;

    rewinddir(listing);
    for (const struct dirent *entry; folder >= 0 && (entry = readdir(listing)) != NULL;) {
        name_kind kind = kind_of(entry->d_name, &process);
        int is_left = kind == NAME_NOTES || (kind == NAME_PART && all) ||
                      (kind == NAME_JOURNAL && (all || !has_part(folder, entry->d_name)));
        if (is_left && (kind == NAME_NOTES || !snd_process_runs(process)))
            (void)unlinkat(folder, entry->d_name, 0);
    }
}

snd_status
snd_parts_clear(const char *path, snd_buffer *message)
{
    snd_buffer folder = {0};
    const char *why = NULL;
    int error = 0;

    snd_buffer_printf(&folder, "%s" SND_PARTS_SUFFIX, path);
    if (folder.failed)
        return SND_NO_MEMORY;
    DIR *listing = open_folder(snd_buffer_str(&folder), geteuid(), &error);
    if (listing != NULL) {
        remove_left(listing, 1);
        if (rmdir(snd_buffer_str(&folder)) != 0)
            why = "an earlier run is still writing there or left other files";
        closedir(listing);
    }
    else if (error == EEXIST)
        why = "not a folder that this user created for parts";
    if (why != NULL)
        snd_buffer_printf(message, "%s: %s; choose another name for the recording", snd_buffer_str(&folder), why);
    snd_buffer_free(&folder);
    return why == NULL ? SND_OK : SND_NOT_OURS;
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

static snd_status
read_info(const char *path, part_info *info)
{
    static const char sql[] =
        "select key, value from info where key in ('process_cpu_ns', 'process_cpu_before_ns', 'complete')";
    snd_reader *reader = NULL;
    snd_status status = snd_reader_open(path, &reader);

    *info = (part_info){0};
    if (status == SND_OK)
        status = snd_reader_query(reader, sql, take_names, take_info, info);
    int saved = errno;
    snd_reader_free(reader);
    errno = saved;
    return status;
}

/* What there is in a folder. The first of `list` is the recording that the parts belong to. */
typedef struct found_parts {
    part_list list, lost;
    snd_parts_gathered count;
    snd_buffer why; /* the first that cannot be read, and why */
} found_parts;

static void
free_found(found_parts *self)
{
    free_list(&self->list);
    free_list(&self->lost);
    snd_buffer_free(&self->why);
}

/* Takes `path`. Without a first checkpoint there is nothing in it, whatever else there is. */
static snd_status
add_part(char *path, uint32_t process, found_parts *out)
{
    part_info info;
    snd_status status = path == NULL ? SND_NO_MEMORY : read_info(path, &info);

    if (status == SND_NO_MEMORY) {
        snd_free(path);
        return status;
    }
    if (!info.is_complete && snd_process_runs(process))
        out->count.running++;
    else if (status == SND_EMPTY || status == SND_NOT_A_RECORDING || (status == SND_OK && !info.is_there)) {
        out->count.lost++;
        return add_path(&out->lost, path);
    }
    else if (status != SND_OK) {
        if (out->count.unread++ == 0)
            snd_buffer_printf(&out->why, "%s: %s", path, snd_status_detail(status, errno));
    }
    else { /* ended or killed: the last checkpoint is what there is */
        out->count.parts++;
        out->count.measured_ns += info.cpu_ns > info.cpu_before_ns ? info.cpu_ns - info.cpu_before_ns : 0;
        return add_path(&out->list, path);
    }
    snd_free(path);
    return SND_OK;
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

static snd_status
list_parts(const char *folder, DIR *listing, found_parts *out)
{
    snd_status status = SND_OK;
    uint32_t process = 0;

    for (const struct dirent *entry; status == SND_OK && (entry = readdir(listing)) != NULL;) {
        name_kind kind = kind_of(entry->d_name, &process);
        if (kind == NAME_PART)
            status = add_part(path_in(folder, entry->d_name), process, out);
        else if (kind == NAME_OTHER && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            out->count.others++;
    }
    return status;
}

/* NULL, and SND_OK, when there is no such folder; else a line in `message` on failure. The caller closes it. */
static snd_status
open_listing(const char *folder, DIR **out, snd_buffer *message)
{
    int error = 0;

    *out = open_folder(folder, owner_of(folder), &error);
    if (*out != NULL || error == ENOENT)
        return SND_OK;
    snd_buffer_printf(message, "%s: %s; child processes are not in the recording", folder,
                      error == EEXIST ? "owned by another user" : snd_status_detail(SND_SYSTEM, error));
    errno = error;
    return error == EEXIST ? SND_NOT_OURS : SND_SYSTEM;
}

snd_status
snd_parts_look(const char *folder, snd_parts_gathered *out)
{
    found_parts found = {0};
    snd_buffer ignored = {0};
    DIR *listing = NULL;

    *out = (snd_parts_gathered){0};
    snd_status status = open_listing(folder, &listing, &ignored);
    if (status == SND_NOT_OURS) /* whoever gathers says so */
        status = SND_OK;
    if (listing != NULL) {
        status = list_parts(folder, listing, &found);
        closedir(listing);
    }
    *out = found.count;
    snd_buffer_free(&ignored);
    free_found(&found);
    return status;
}

/* ---- putting them together ---- */

/* With the journals that killed processes leave. */
static void
remove_all(const part_list *list, uint32_t from)
{
    for (uint32_t i = from; i < list->count; i++) {
        snd_buffer journal = {0};
        snd_buffer_printf(&journal, "%s" JOURNAL, list->paths[i]);
        if (unlink(list->paths[i]) == 0 && !journal.failed)
            (void)unlink(snd_buffer_str(&journal));
        snd_buffer_free(&journal);
    }
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
        snd_buffer_printf(message, "%s: cannot merge: %s; the parts are kept in %s" SND_PARTS_SUFFIX,
                          result.failed == NULL ? "" : result.failed, snd_status_detail(status, errno), list->paths[0]);
    return status;
}

static void
say_what_stays(const char *folder, const found_parts *found, snd_buffer *message)
{
    const snd_parts_gathered *count = &found->count;

    if (count->unread == 0 && count->others == 0)
        return;
    snd_buffer_printf(message, "%s is kept:", folder);
    if (count->unread != 0)
        snd_buffer_printf(message, " %u part%s cannot be read (%s)", count->unread, count->unread == 1 ? "" : "s",
                          snd_buffer_str(&found->why));
    if (count->others != 0)
        snd_buffer_printf(message, "%s %u file%s in it that sonde did not write", count->unread == 0 ? "" : ", and",
                          count->others, count->others == 1 ? " is" : "s are");
}

snd_status
snd_parts_gather(const char *folder, snd_parts_gathered *out, snd_buffer *message)
{
    found_parts found = {0};
    DIR *listing = NULL;

    *out = (snd_parts_gathered){0};
    snd_status status = open_listing(folder, &listing, message);
    if (listing == NULL)
        return status;
    status = add_path(&found.list, path_without_suffix(folder));
    if (status == SND_OK)
        status = list_parts(folder, listing, &found);
    if (status == SND_OK)
        status = merge(&found.list, message);
    if (status == SND_OK) {
        remove_all(&found.lost, 0);
        remove_left(listing, 0);
        say_what_stays(folder, &found, message);
    }
    (void)rmdir(folder); /* stays while anything is in it */
    closedir(listing);
    *out = found.count;
    free_found(&found);
    return status;
}

/* ---- this process and its children ---- */

static struct children {
    snd_children kind;
    char *parts;           /* NULL: none */
    uint32_t gathering_id; /* the process that puts them together; 0: nobody does */
    uint64_t end_ns;
    char *_Atomic failure; /* that nobody has said; NULL: none */
} children;

snd_status
snd_children_take(const snd_settings *set, const char *recording)
{
    snd_buffer path = {0};

    children.kind = set->children;
    if (set->children == SND_CHILDREN_PARTS && recording != NULL) {
        snd_buffer_text(&path, set->parts == NULL ? recording : set->parts);
        snd_buffer_text(&path, set->parts == NULL ? SND_PARTS_SUFFIX : "");
    }
    if (path.failed) {
        snd_buffer_free(&path);
        return SND_NO_MEMORY;
    }
    snd_free(children.parts);
    children.parts = path.data;
    children.gathering_id = set->gathers && path.data != NULL ? snd_process_id() : 0;
    return SND_OK;
}

void
snd_children_end_at(uint64_t end_ns)
{
    children.end_ns = end_ns;
}

uint64_t
snd_children_end(void)
{
    return children.end_ns;
}

int
snd_children_are_followed(void)
{
    return children.kind != SND_CHILDREN_NONE && (children.end_ns == 0 || snd_clock_monotonic_ns() < children.end_ns);
}

const char *
snd_children_parts(void)
{
    return children.parts;
}

void
snd_children_take_notes(void)
{
    snd_buffer path = {0};
    char *text = NULL;
    size_t size = 0;

    if (children.gathering_id != snd_process_id())
        return;
    snd_buffer_printf(&path, "%s/" SND_PARTS_NOTES, children.parts);
    if (!path.failed && snd_file_load(snd_buffer_str(&path), NOTES_LIMIT, &text, &size) == SND_OK && size > 1) {
        text[size - 1] = '\0'; /* a line end */
        snd_status status = snd_extras_set_info("not_followed", text);
        (void)status; /* without memory the recording lacks them */
    }
    snd_free(text);
    snd_buffer_free(&path);
}

typedef struct question {
    snd_parts_gathered *out;
    snd_buffer *message; /* NULL: they stay where they are */
    snd_status status;
} question;

static void
ask_parts(void *context)
{
    question *self = context;

    self->status = self->message == NULL ? snd_parts_look(children.parts, self->out)
                                         : snd_parts_gather(children.parts, self->out, self->message);
}

snd_status
snd_children_look(snd_parts_gathered *out)
{
    question self = {.out = out};

    *out = (snd_parts_gathered){0};
    if (children.parts != NULL)
        snd_worker_call(ask_parts, &self);
    return self.status;
}

snd_status
snd_children_gather(snd_parts_gathered *out, snd_buffer *message)
{
    question self = {.out = out, .message = message};

    *out = (snd_parts_gathered){0};
    if (children.gathering_id != snd_process_id())
        return SND_OK;
    children.gathering_id = 0;
    snd_worker_call(ask_parts, &self);
    return self.status;
}

void
snd_children_keep_failure(const char *text)
{
    snd_free(atomic_exchange(&children.failure, snd_strdup(text)));
}

void
snd_children_say_failure(void)
{
    char *text = atomic_exchange(&children.failure, NULL);

    if (text != NULL)
        fprintf(stderr, "sonde: %s\n", text);
    snd_free(text);
}
