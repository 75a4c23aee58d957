/* Room: what the operating system says and does; with os/native the only one with code for an architecture. */
/* What the system says of this process and of the program it runs. */
#ifndef SND_OS_PROCESS_H
#define SND_OS_PROCESS_H

#include "base/buffer.h"

/* Process and thread numbers as the kernel counts them. */
uint32_t snd_process_id(void);
uint32_t snd_thread_id(void);

/* Whether there is such a process, and it has not ended. */
int snd_process_runs(uint32_t process);

/* CPU time of those of its children that have ended and were waited for, and of theirs. */
uint64_t snd_process_children_cpu_ns(void);

/* Whoever started this process: it may be gone by now. */
uint32_t snd_process_parent(void);

/* Whether this process still has the thread. */
int snd_thread_lives(uint32_t thread);

/* The name of the calling thread, cut to 15 bytes by the kernel. */
void snd_thread_system_name(char name[16]);

/* Never NULL; static storage. */
const char *snd_process_host(void);

/* The rank from RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID; -1 where there is none. */
int64_t snd_process_rank(void);

/* The words of the command line, each ended by NUL, from /proc. */
void snd_process_arguments(snd_buffer *out);

/* Appends `path` with %p (pid), %h (host), %r (rank, 0 without one) and %% replaced, made absolute. */
void snd_path_expand(const char *path, snd_buffer *out);

/* The path without "//", "/./" and "/../"; a "/../" only where it still leads to the same file, since the folder before
 * it may be a link. NULL where there is nothing to leave out, and when memory runs out; else the caller frees it. */
char *snd_path_plain(const char *path);

#endif
