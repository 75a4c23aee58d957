/* sonde stat: running a command. */
#include "cli/core/options.h"
#include "cli/stat/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file is given to every run from where it stands now; anything else to a single run only, since there is one to
 * read it: -1 for nothing. */
static int
find_input(const snd_stat *self)
{
    static off_t start = -1;
    struct stat about;

    if (fstat(STDIN_FILENO, &about) != 0)
        return -1;
    if (S_ISREG(about.st_mode)) {
        if (start < 0)
            start = lseek(STDIN_FILENO, 0, SEEK_CUR);
        if (start >= 0 && lseek(STDIN_FILENO, start, SEEK_SET) == start)
            return STDIN_FILENO;
    }
    return self->runs == 1 && self->side_count == 1 && self->warmup == 0 ? STDIN_FILENO : -1;
}

/* As a shell says it. */
static int
complain_start(const char *command, int error)
{
    if (error == ENOENT && strchr(command, '/') == NULL)
        snd_complain("%s: command not found", command);
    else
        snd_complain("%s: cannot be run: %s", command, strerror(error));
    return error == ENOENT ? 127 : 126;
}

int
snd_stat_run_command(snd_stat *self, unsigned number, uint32_t round, int counts, int *status)
{
    snd_stat_side *side = &self->sides[number];
    snd_child_wish wish = {.argv = side->argv, .input = find_input(self), .output = self->output, .kept = -1};
    snd_child_end end;
    snd_usage used;

    if (!snd_child_run(&wish, &used, &end)) {
        *status = snd_complain("%s: cannot be run: %s", side->argv[0], strerror(errno));
        return 0;
    }
    if (end.start_error != 0) {
        *status = complain_start(side->argv[0], end.start_error);
        return 0;
    }
    int is_broken_off = snd_child_signal() != 0 && side->sample_count != 0; /* what ran to its end says more */
    if (!counts || is_broken_off)
        return 1;
    side->run_count++;
    snd_status result = snd_stat_add_sample(side, round, &used);
    if (result == SND_OK && (end.status != 0 || end.signal != 0))
        result = snd_stat_add_failure(side, side->run_count, end);
    if (result != SND_OK)
        *status = snd_complain("%s", snd_status_text(result));
    return result == SND_OK;
}
