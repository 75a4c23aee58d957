/* Room: what shells and man read about the commands, written from their lists. */
/* Completion scripts and man pages, one writer a file. */
#ifndef SND_CLI_COMPLETE_H
#define SND_CLI_COMPLETE_H

#include "base/buffer.h"
#include "cli/core/options.h"

/* What a word of a command may be, for a shell. */
typedef enum snd_word_kind {
    SND_WORD_NOTHING,
    SND_WORD_RECORDING,
    SND_WORD_PROGRAM, /* a file of Python, and whatever follows it */
    SND_WORD_FILE,
    SND_WORD_SHELL, /* the name of a shell */
} snd_word_kind;

snd_word_kind snd_word_kind_of(const snd_command *command);

/* Whether an option of a command is to be shown: those of an old name are not, nor one that stands in the list twice
 * for the second time. */
int snd_option_is_shown(const snd_command *command, int place);

/* ASCII, and without what `removed` lists. */
void snd_put_plain(snd_buffer *out, const char *text, const char *removed);

void snd_complete_bash(snd_buffer *out);
void snd_complete_zsh(snd_buffer *out);
void snd_complete_fish(snd_buffer *out);

/* A page of section 1; NULL: that of `sonde` itself. */
void snd_man_write(const snd_command *command, snd_buffer *out);

#endif
