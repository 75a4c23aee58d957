/* The pages of a rollback journal, read as SQLite reads them (its file format says how they are laid out). */
#include "store/open/undo.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_SIZE 28u
#define CHECKED_STEP 200u     /* a page's checksum is of every 200th byte */
#define UNCOUNTED 0xffffffffu /* records go on to the end of the journal */
#define LOCK_BYTE 0x40000000u /* the page in which SQLite's locks are never has content */

static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

/* Where the journal keeps a page. */
typedef struct kept_page {
    uint32_t page; /* from 1 */
    uint64_t at;
} kept_page;

struct snd_undo {
    int file;
    uint32_t page_size;
    uint32_t before; /* pages */
    kept_page *pages;
    uint32_t count, room;
};

typedef struct journal_head {
    uint32_t records, nonce, before, sector_size, page_size;
} journal_head;

static uint32_t
number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* 1 when all of it was read, 0 at the end of the file, -1 and errno on failure. */
static int
read_at(int file, void *to, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = pread(file, (char *)to + done, size - done, (off_t)(at + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? -1 : 0;
        done += (size_t)count;
    }
    return 1;
}

static int
is_power_of_two(uint32_t number, uint32_t least, uint32_t most)
{
    return number >= least && number <= most && (number & (number - 1)) == 0;
}

/* As read_at; 0 also when there is no head at this place. */
static int
read_head(int file, uint64_t at, journal_head *head)
{
    unsigned char bytes[HEAD_SIZE];
    int result = read_at(file, bytes, sizeof bytes, at);

    if (result != 1 || memcmp(bytes, magic, sizeof magic) != 0)
        return result < 0 ? -1 : 0;
    *head = (journal_head){number_at(bytes + 8), number_at(bytes + 12), number_at(bytes + 16), number_at(bytes + 20),
                           number_at(bytes + 24)};
    return 1;
}

static uint32_t
checksum(const unsigned char *data, uint32_t size, uint32_t nonce)
{
    for (uint32_t i = size - CHECKED_STEP; i < size && i != 0; i -= CHECKED_STEP) /* it wraps below 0 */
        nonce += data[i];
    return nonce;
}

/* Adds the page of the record at `at`. As read_at; 0 also for a record that was not written to its end. */
static int
take_record(snd_undo *self, const journal_head *head, uint64_t at, unsigned char *record, snd_status *status)
{
    int result = read_at(self->file, record, self->page_size + 8u, at);
    if (result != 1)
        return result;
    uint32_t page = number_at(record);
    if (page == 0 || page == LOCK_BYTE / self->page_size + 1)
        return 0;
    if (page > self->before)
        return 1;
    if (checksum(record + 4, self->page_size, head->nonce) != number_at(record + 4 + self->page_size))
        return 0;
    if (self->count == self->before) /* no page is kept twice */
        *status = SND_DAMAGED;
    else if (!snd_make_room(&self->pages, self->count + 1, &self->room, sizeof *self->pages))
        *status = SND_NO_MEMORY;
    else
        self->pages[self->count++] = (kept_page){page, at + 4};
    return *status == SND_OK ? 1 : 0;
}

/* Takes the records of one head and the heads behind it. */
static snd_status
take_records(snd_undo *self, journal_head head, uint64_t journal_size)
{
    uint32_t sector = head.sector_size, record_size = self->page_size + 8;
    unsigned char *record = snd_malloc(record_size);
    snd_status status = record == NULL ? SND_NO_MEMORY : SND_OK;
    uint64_t at = sector;
    int result = 1;

    while (status == SND_OK && result == 1) {
        if (head.records == UNCOUNTED)
            head.records = journal_size > at ? (uint32_t)((journal_size - at) / record_size) : 0;
        for (uint32_t i = 0; i < head.records && result == 1; i++, at += record_size)
            result = take_record(self, &head, at, record, &status);
        at = (at + sector - 1) / sector * sector;
        if (result == 1)
            result = at + sector > journal_size ? 0 : read_head(self->file, at, &head);
        at += sector;
    }
    int saved = errno;
    snd_free(record);
    errno = saved;
    return status == SND_OK && result < 0 ? SND_SYSTEM : status;
}

static int
compare_pages(const void *a, const void *b)
{
    const kept_page *x = a, *y = b;
    return x->page < y->page ? -1 : x->page > y->page;
}

/* Whether the journal ends with the name of another one, which SQLite would delete. */
static int
names_another(int file, uint64_t size)
{
    unsigned char end[sizeof magic];

    return size >= 16 && read_at(file, end, sizeof end, size - sizeof end) == 1 &&
           memcmp(end, magic, sizeof magic) == 0;
}

/* 0 in `page_size` where there is nothing to undo. */
static snd_status
start(snd_undo *self, uint64_t journal_size, uint64_t size)
{
    journal_head head;
    int result = read_head(self->file, 0, &head);

    if (result != 1)
        return result < 0 ? SND_SYSTEM : SND_OK;
    if (names_another(self->file, journal_size))
        return SND_FOREIGN_JOURNAL;
    if (!is_power_of_two(head.sector_size, 32, 65536) || !is_power_of_two(head.page_size, 512, 65536) ||
        journal_size < head.sector_size)
        return SND_OK;
    if ((uint64_t)head.before * head.page_size > size) /* ours never shrink a file */
        return SND_DAMAGED;
    self->page_size = head.page_size;
    self->before = head.before;
    snd_status status = take_records(self, head, journal_size);
    if (self->count > 1)
        qsort(self->pages, self->count, sizeof *self->pages, compare_pages);
    return status;
}

snd_status
snd_undo_open(const char *journal, uid_t owner, uint64_t size, snd_undo **out)
{
    struct stat about;
    int file = open(journal, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

    *out = NULL;
    if (file < 0) {
        int saved = errno;
        int is_hidden =
            saved != ENOENT && lstat(journal, &about) == 0 && about.st_uid == owner && S_ISREG(about.st_mode);
        errno = saved;
        return is_hidden ? SND_SYSTEM : SND_OK;
    }
    snd_undo *self = NULL;
    snd_status status = SND_OK;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == owner) {
        self = snd_calloc(1, sizeof *self);
        status = SND_NO_MEMORY;
    }
    if (self == NULL) {
        close(file);
        return status;
    }
    self->file = file;
    status = start(self, (uint64_t)about.st_size, size);
    if (status != SND_OK || self->page_size == 0) {
        int saved = errno;
        snd_undo_free(self);
        errno = saved;
        return status;
    }
    *out = self;
    return SND_OK;
}

void
snd_undo_free(snd_undo *self)
{
    if (self == NULL)
        return;
    close(self->file);
    snd_free(self->pages);
    snd_free(self);
}

uint64_t
snd_undo_size(const snd_undo *self)
{
    return (uint64_t)self->before * self->page_size;
}

ssize_t
snd_undo_read(const snd_undo *self, void *to, size_t size, uint64_t at, int *is_read)
{
    uint32_t within = (uint32_t)(at % self->page_size);
    kept_page wanted = {.page = (uint32_t)(at / self->page_size + 1)};
    size_t here = size < self->page_size - within ? size : self->page_size - within;
    const kept_page *kept =
        self->count == 0 ? NULL : bsearch(&wanted, self->pages, self->count, sizeof wanted, compare_pages);

    *is_read = kept != NULL;
    if (kept == NULL)
        return (ssize_t)here;
    int result = read_at(self->file, to, here, kept->at + within);
    if (result == 0)
        errno = EIO; /* somebody has cut it off meanwhile */
    return result == 1 ? (ssize_t)here : -1;
}
