#include "os/file.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t
read_all(int file, char *text, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t count = read(file, text + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    return done;
}

snd_status
snd_file_load(const char *path, size_t limit, char **text, size_t *size)
{
    struct stat about;
    snd_status status = SND_OK;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    *text = NULL;
    *size = 0;
    if (file < 0)
        return SND_OK;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && (uint64_t)about.st_size <= limit) {
        *text = snd_malloc((size_t)about.st_size + 1);
        if (*text == NULL)
            status = SND_NO_MEMORY;
        else {
            *size = read_all(file, *text, (size_t)about.st_size);
            (*text)[*size] = '\0';
        }
    }
    close(file);
    return status;
}
