/* A library that programs load and unload: it allocates, copies and maps memory. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static volatile sig_atomic_t caught;
static char from[5000], to[5000];

/* Seven times the size, if memory is what it should be. */
int
plugin_work(int size)
{
    char *one = malloc((size_t)size), *other = calloc(1, (size_t)size);
    int sum = 0;

    if (one == NULL || other == NULL)
        abort();
    memset(one, 7, (size_t)size);
    memcpy(other, one, (size_t)size);
    one = realloc(one, (size_t)size * 2);
    for (int i = 0; i < size; i++)
        sum += other[i] == one[i] ? other[i] : 1000;
    free(one);
    free(other);
    return sum;
}

/* Only what a handler may do: no malloc. */
static void
handle(int number)
{
    (void)number;
    memcpy(to, from, sizeof to - (size_t)caught % 100);
    void *room = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED)
        munmap(room, 1 << 20);
    caught++;
}

void
plugin_catch(int number)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};

    sigaction(number, &action, NULL);
}

int
plugin_caught(void)
{
    return caught;
}
