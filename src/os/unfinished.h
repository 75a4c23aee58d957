/* The file that is being written: breaking off leaves no half of it, and keeps an older one. */
#ifndef SND_OS_UNFINISHED_H
#define SND_OS_UNFINISHED_H

/* For a program of our own. From now on SIGINT, SIGTERM and SIGHUP remove the unfinished file and end the process as
 * they would; one that is ignored stays so. */
void snd_unfinished_catch_signals(void);

/* The file at `path`, and SQLite's journal beside it, are unfinished until the end; one at a time. Nothing where no
 * signals are caught. A path that is too long is passed over. */
void snd_unfinished_begin(const char *path);
void snd_unfinished_end(void);

/* Opens a file for writing that gets its name only when it is whole. What is not a regular file, such as a pipe, is
 * written as it is, and so is a file in a folder that cannot be written to. One at a time. -1 and errno on failure. */
int snd_unfinished_open(const char *path);

/* Closes what snd_unfinished_open gave; if it is not whole it is removed. 0 and errno on failure. */
int snd_unfinished_close(int file, int is_whole);

#endif
