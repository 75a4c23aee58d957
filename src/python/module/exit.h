/* What happens before os._exit, os.exec* and the programs that subprocess runs. */
#ifndef SND_PYTHON_EXIT_H
#define SND_PYTHON_EXIT_H

/* Puts our step before them, or takes it away. Never raises. */
void snd_exit_hook(int on);

/* Whether this is a child on its way to another program. */
int snd_exit_is_forking(void);

#endif
