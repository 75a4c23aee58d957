/* Which code is this package's own. */
#ifndef SND_PYTHON_OWN_FILE_H
#define SND_PYTHON_OWN_FILE_H

/* Needs the GIL at the first call only. */
int snd_is_own_file(const char *file);

#endif
