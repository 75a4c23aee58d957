/* How SQLite gets at files: two file systems of its kind, in front of its own. */
#include "store/open/files.h"

#include "base/buffer.h"
#include "store/open/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READING "sonde-reading"
#define WRITING "sonde-writing"
#define JOURNAL "-journal"
#define HEADER_SIZE 100 /* of a database */
#define MODES_AT 18     /* its bytes that say how it is written and read: 1, or 2 with a write-ahead log */

static sqlite3_vfs *system_files; /* SQLite's own */

/* ---- reading ---- */

/* An open recording; SQLite's own file lies behind it. */
typedef struct read_file {
    sqlite3_file base;
    const char *path; /* SQLite keeps it until the file is closed */
    snd_undo *undo;   /* while it is locked; NULL: there is nothing to undo */
} read_file;

static sqlite3_file *
real(const void *file)
{
    return (sqlite3_file *)((const read_file *)file + 1);
}

static int
close_file(sqlite3_file *file)
{
    snd_undo_free(((read_file *)file)->undo);
    return real(file)->pMethods->xClose(real(file));
}

/* From the journal and the file in turns. */
static int
read_undone(read_file *self, char *to, int size, sqlite3_int64 at)
{
    sqlite3_file *file = real(self);

    for (ssize_t here; size > 0; to += here, size -= (int)here, at += here) {
        int is_read = 0;
        if ((uint64_t)at >= snd_undo_size(self->undo)) {
            memset(to, 0, (size_t)size);
            return SQLITE_IOERR_SHORT_READ;
        }
        here = snd_undo_read(self->undo, to, (size_t)size, (uint64_t)at, &is_read);
        if (here < 0)
            return SQLITE_IOERR_READ;
        int result = is_read ? SQLITE_OK : file->pMethods->xRead(file, to, (int)here, at);
        if (result != SQLITE_OK)
            return result;
    }
    return SQLITE_OK;
}

static int
read_bytes(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
    read_file *self = (read_file *)file;
    return self->undo != NULL ? read_undone(self, to, size, at) : real(file)->pMethods->xRead(real(file), to, size, at);
}

static int
write_bytes(sqlite3_file *file, const void *from, int size, sqlite3_int64 at)
{
    (void)file, (void)from, (void)size, (void)at;
    return SQLITE_READONLY;
}

static int
truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
    (void)file, (void)size;
    return SQLITE_READONLY;
}

static int
sync_file(sqlite3_file *file, int flags)
{
    (void)file, (void)flags;
    return SQLITE_OK;
}

static int
file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    const read_file *self = (const read_file *)file;

    if (self->undo == NULL)
        return real(file)->pMethods->xFileSize(real(file), size);
    *size = (sqlite3_int64)snd_undo_size(self->undo);
    return SQLITE_OK;
}

static int
as_result(snd_status status)
{
    switch (status) {
    case SND_OK:
        return SQLITE_OK;
    case SND_NO_MEMORY:
        return SQLITE_NOMEM;
    case SND_DAMAGED:
        return SQLITE_CORRUPT;
    case SND_FOREIGN_JOURNAL:
        return SND_SQLITE_FOREIGN_JOURNAL;
    default:
        return SQLITE_IOERR_READ;
    }
}

/* Called with the file locked, so that nobody writes it; whoever has begun to write a journal has not changed the file
 * yet, and is known by a lock of his own. */
static int
look_for_journal(read_file *self)
{
    sqlite3_file *file = real(self);
    snd_buffer journal = {0};
    sqlite3_int64 size = 0;
    struct stat about;
    int is_writing = 0;
    int result = file->pMethods->xCheckReservedLock(file, &is_writing);
    if (result == SQLITE_OK && !is_writing)
        result = file->pMethods->xFileSize(file, &size);
    if (result != SQLITE_OK || is_writing)
        return result;
    snd_buffer_printf(&journal, "%s" JOURNAL, self->path);
    snd_status status = snd_buffer_status(&journal);
    if (status == SND_OK && stat(self->path, &about) != 0)
        status = SND_SYSTEM;
    if (status == SND_OK)
        status = snd_undo_open(snd_buffer_str(&journal), about.st_uid, (uint64_t)size, &self->undo);
    int saved = errno;
    snd_buffer_free(&journal);
    errno = saved;
    return as_result(status);
}

/* What a write-ahead log beside it holds is part of such a file; ours never have one. */
static int
check_mode(sqlite3_file *file)
{
    char header[MODES_AT + 2];
    int result = read_bytes(file, header, sizeof header, 0);

    if (result == SQLITE_IOERR_SHORT_READ)
        return SQLITE_OK;
    if (result == SQLITE_OK && memcmp(header, "SQLite format 3", 16) == 0 &&
        (header[MODES_AT] == 2 || header[MODES_AT + 1] == 2))
        return SND_SQLITE_WAL;
    return result;
}

static void
forget_journal(read_file *self)
{
    snd_undo_free(self->undo);
    self->undo = NULL;
}

static int
lock_file(sqlite3_file *file, int level)
{
    read_file *self = (read_file *)file;
    int result = real(file)->pMethods->xLock(real(file), level);

    if (result != SQLITE_OK || self->undo != NULL)
        return result;
    result = look_for_journal(self);
    if (result == SQLITE_OK)
        result = check_mode(file);
    if (result != SQLITE_OK) {
        int saved = errno;
        forget_journal(self);
        real(file)->pMethods->xUnlock(real(file), SQLITE_LOCK_NONE);
        errno = saved;
    }
    return result;
}

static int
unlock_file(sqlite3_file *file, int level)
{
    if (level == SQLITE_LOCK_NONE)
        forget_journal((read_file *)file);
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int
check_reserved(sqlite3_file *file, int *is_reserved)
{
    return real(file)->pMethods->xCheckReservedLock(real(file), is_reserved);
}

static int
control_file(sqlite3_file *file, int what, void *value)
{
    (void)file, (void)what, (void)value;
    return SQLITE_NOTFOUND;
}

static int
sector_size(sqlite3_file *file)
{
    return real(file)->pMethods->xSectorSize(real(file));
}

static int
characteristics(sqlite3_file *file)
{
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

/* Version 1: no memory that processes share, and so no write-ahead log. */
static const sqlite3_io_methods read_methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_bytes,
    .xWrite = write_bytes,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static int
open_for_reading(sqlite3_vfs *files, const char *path, sqlite3_file *file, int flags, int *out_flags)
{
    (void)files;
    file->pMethods = NULL;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || path == NULL)
        return SQLITE_CANTOPEN;
    flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    int result = system_files->xOpen(system_files, path, real(file), flags, out_flags);
    if (result == SQLITE_OK)
        *(read_file *)file = (read_file){.base.pMethods = &read_methods, .path = path};
    return result;
}

static int
refuse_to_delete(sqlite3_vfs *files, const char *path, int sync_folder)
{
    (void)files, (void)path, (void)sync_folder;
    return SQLITE_READONLY;
}

static int
find_nothing(sqlite3_vfs *files, const char *path, int what, int *is_there)
{
    (void)files, (void)path, (void)what;
    *is_there = 0;
    return SQLITE_OK;
}

/* ---- writing ---- */

/* Whether the name is that of a main journal, and then its file. */
static int
is_journal(const char *path, char *file, size_t room)
{
    size_t len = strlen(path), end = strlen(JOURNAL);

    if (len <= end || len - end >= room || strcmp(path + len - end, JOURNAL) != 0)
        return 0;
    memcpy(file, path, len - end);
    file[len - end] = '\0';
    return 1;
}

/* Whether a plain file stands there, which belongs to the same user as the file whose journal it is. */
static int
is_own_journal(const char *path)
{
    char file[4096];
    struct stat journal, about;

    return is_journal(path, file, sizeof file) && lstat(path, &journal) == 0 && lstat(file, &about) == 0 &&
           S_ISREG(journal.st_mode) && S_ISREG(about.st_mode) && journal.st_uid == about.st_uid;
}

/* A write-ahead log is not looked for, and a journal that is not ours not seen: creating our own fails then. */
static int
find_own_journal(sqlite3_vfs *files, const char *path, int what, int *is_there)
{
    (void)files, (void)what;
    *is_there = is_own_journal(path);
    return SQLITE_OK;
}

static int
delete_own_journal(sqlite3_vfs *files, const char *path, int sync_folder)
{
    (void)files;
    if (!is_own_journal(path))
        return access(path, F_OK) == 0 ? SQLITE_IOERR_DELETE : SQLITE_IOERR_DELETE_NOENT;
    return system_files->xDelete(system_files, path, sync_folder);
}

/* A new file, and no other that came in between. -1 and errno on failure. */
static int
create_file(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    return file < 0 ? -1 : close(file);
}

static int
open_journal(const char *path, sqlite3_file *file, int flags, int *out_flags)
{
    if ((flags & SQLITE_OPEN_CREATE) != 0) { /* what was to be rolled back is by now */
        if (is_own_journal(path))
            (void)unlink(path);
        if (create_file(path) != 0)
            return SQLITE_CANTOPEN;
    }
    else if (!is_own_journal(path))
        return SQLITE_CANTOPEN;
    return system_files->xOpen(system_files, path, file, flags & ~SQLITE_OPEN_CREATE, out_flags);
}

/* Temporary files have no name: SQLite finds one that is not taken. */
static int
open_for_writing(sqlite3_vfs *files, const char *path, sqlite3_file *file, int flags, int *out_flags)
{
    (void)files;
    file->pMethods = NULL;
    if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0)
        return open_journal(path, file, flags, out_flags);
    if (path != NULL && (flags & SQLITE_OPEN_MAIN_DB) == 0)
        return SQLITE_CANTOPEN;
    return system_files->xOpen(system_files, path, file, flags, out_flags);
}

/* Links are not followed here, and so not by SQLite when it opens the file. */
static int
full_path(sqlite3_vfs *files, const char *path, int room, char *out)
{
    size_t used = 0;

    (void)files;
    if (path[0] != '/') {
        if (out == NULL || getcwd(out, (size_t)room) == NULL)
            return SQLITE_CANTOPEN;
        used = strlen(out);
        out[used++] = '/';
    }
    if (used + strlen(path) + 1 > (size_t)room)
        return SQLITE_CANTOPEN;
    memcpy(out + used, path, strlen(path) + 1);
    return SQLITE_OK;
}

/* ---- both ---- */

static void
register_files(void)
{
    static sqlite3_vfs reading, writing;

    system_files = sqlite3_vfs_find(NULL);
    if (system_files == NULL)
        return;
    reading = writing = *system_files;
    reading.pNext = writing.pNext = NULL;
    reading.zName = READING;
    reading.szOsFile = (int)sizeof(read_file) + system_files->szOsFile;
    reading.xOpen = open_for_reading;
    reading.xDelete = refuse_to_delete;
    reading.xAccess = find_nothing;
    writing.zName = WRITING;
    writing.xOpen = open_for_writing;
    writing.xDelete = delete_own_journal;
    writing.xAccess = find_own_journal;
    writing.xFullPathname = full_path;
    sqlite3_vfs_register(&reading, 0);
    sqlite3_vfs_register(&writing, 0);
}

/* A name such as "file:a?vfs=b" is a name, and no address. */
static int
open_path(const char *path, int flags, const char *files, sqlite3 **db)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    snd_buffer name = {0};

    pthread_once(&once, register_files);
    snd_buffer_printf(&name, "%s%s", path[0] == '/' ? "" : "./", path);
    int result =
        name.failed ? SQLITE_NOMEM : sqlite3_open_v2(snd_buffer_str(&name), db, flags | SQLITE_OPEN_NOMUTEX, files);
    snd_buffer_free(&name);
    return result;
}

int
snd_files_open_reading(const char *path, sqlite3 **db)
{
    int result = open_path(path, SQLITE_OPEN_READONLY, READING, db);
    return result == SQLITE_OK ? sqlite3_exec(*db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL) : result;
}

int
snd_files_is_blank(sqlite3 *db)
{
    char header[HEADER_SIZE] = {0};
    sqlite3_file *file = NULL;

    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file->pMethods == NULL)
        return 0;
    int result = file->pMethods->xRead(file, header, sizeof header, 0);
    for (size_t i = 0; i < sizeof header; i++)
        if (header[i] != 0)
            return 0;
    return result == SQLITE_OK || result == SQLITE_IOERR_SHORT_READ;
}

/* Whether the journal is left from the file that is there, or from one of ours that is gone. */
static int
is_left_over(const char *path, const struct stat *journal)
{
    struct stat about;

    return S_ISREG(journal->st_mode) &&
           (journal->st_uid == geteuid() || (lstat(path, &about) == 0 && journal->st_uid == about.st_uid));
}

snd_status
snd_files_remove_journal(const char *path)
{
    snd_buffer name = {0};
    struct stat about;

    snd_buffer_printf(&name, "%s" JOURNAL, path);
    snd_status status = snd_buffer_status(&name);
    if (status == SND_OK && lstat(snd_buffer_str(&name), &about) == 0) {
        if (!is_left_over(path, &about))
            status = SND_NOT_OURS;
        else if (unlink(snd_buffer_str(&name)) != 0)
            status = SND_SYSTEM;
    }
    int saved = errno;
    snd_buffer_free(&name);
    errno = saved;
    return status;
}

snd_status
snd_files_create(const char *path)
{
    snd_status status = snd_files_remove_journal(path);
    if (status != SND_OK)
        return status;
    if (unlink(path) != 0 && errno != ENOENT)
        return SND_SYSTEM;
    return create_file(path) == 0 ? SND_OK : SND_SYSTEM;
}

void
snd_files_remove(const char *path)
{
    snd_status status = snd_files_remove_journal(path);

    if (status == SND_OK)
        (void)unlink(path);
}

int
snd_files_open_writing(const char *path, sqlite3 **db)
{
    return open_path(path, SQLITE_OPEN_READWRITE, WRITING, db);
}
