/* What a session was asked for, with texts of its own. */
#ifndef SND_COLLECT_SETTINGS_H
#define SND_COLLECT_SETTINGS_H

#include "collect/session.h"

/* The options of a session with texts of their own; what was left to the system is filled in. */
typedef snd_session_options snd_settings;

/* On failure `*out` is as it was. */
SND_MUST_USE snd_status snd_settings_copy(const snd_session_options *options, snd_settings *out);
void snd_settings_free(snd_settings *self); /* all zero is allowed, and left behind */

/* Whether both write the same to the same places. */
int snd_settings_have_same_outputs(const snd_settings *a, const snd_settings *b);

#endif
