/* Saving before os._exit, which runs nobody's exit handlers. */
#ifndef SND_PYTHON_EXIT_H
#define SND_PYTHON_EXIT_H

/* Puts our step before os._exit, or takes it away. Never raises. */
void snd_exit_hook(int on);

#endif
