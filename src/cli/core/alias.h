/* Words of other profilers' command lines. */
#ifndef SND_CLI_CORE_ALIAS_H
#define SND_CLI_CORE_ALIAS_H

#include "cli/core/options.h"

/* What `word`, an option as it was typed, is called elsewhere. NULL: the command knows no such word. */
const snd_alias *snd_alias_find(const snd_command *command, const char *word);

/* Notes in `given` what it means; `value` is "" for one that takes none. 0 after printing one line when the value makes
 * no sense. One that changes nothing is accepted with a sentence. */
int snd_alias_take(const snd_alias *alias, const char *value, snd_arguments *given);

#endif
