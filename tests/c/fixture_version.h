/* Recordings as older versions of sonde wrote them. */
#ifndef SND_TEST_FIXTURE_VERSION_H
#define SND_TEST_FIXTURE_VERSION_H

/* Runs SQL on the file behind sonde's back. */
void change_file(const char *path, const char *sql);

/* The recording at `path`, with the tables and columns that `version` had of it. */
void make_version(const char *path, int version);

#endif
