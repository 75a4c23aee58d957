/* Whether the interpreter's frames can be read as they lie. */
#ifndef SND_PYTHON_SAMPLE_CHECK_H
#define SND_PYTHON_SAMPLE_CHECK_H

/* 1: everything we read of a known stack is what the interpreter says of it. With the GIL held. */
int snd_sample_check(void);

#endif
