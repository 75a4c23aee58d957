/* The calling thread's own native stack: whose variable is this? */
#include "check.h"
#include "os/native/here.h"
#include "os/native/symbols.h"

#include <stdlib.h>

/* A frame of its own, with its variables in it also where AddressSanitizer would put them elsewhere. */
#define ON_STACK __attribute__((noinline, no_sanitize("address")))

static int
is_in(uintptr_t pc, uintptr_t function)
{
    snd_symbols *symbols = NULL;
    snd_range piece;

    REQUIRE(snd_symbols_new(&symbols) == SND_OK);
    REQUIRE(snd_symbols_piece(symbols, function, &piece) == SND_OK);
    CHECK_NUMBER(piece.start, function);
    CHECK(piece.end > function && piece.end - function < 65536);
    snd_symbols_free(symbols);
    return pc > piece.start && pc < piece.end;
}

ON_STACK static uintptr_t
innermost(const volatile char *variable)
{
    volatile char room[300] = {0};

    return snd_here_around((uintptr_t)variable) + (uintptr_t)room[7];
}

ON_STACK static void
middle(const volatile char *variable, uintptr_t *pc)
{
    volatile char room[500] = {0};

    *pc = innermost(variable == NULL ? &room[100] : variable);
    room[9] = 1;
}

ON_STACK static void
outer(uintptr_t *of_middle, uintptr_t *of_outer)
{
    volatile char room[700] = {0};

    middle(NULL, of_middle);
    middle(&room[200], of_outer);
    room[11] = 1;
}

static void
a_variable_belongs_to_the_function_that_has_it(void)
{
    uintptr_t of_middle = 0, of_outer = 0;

    outer(&of_middle, &of_outer);
    CHECK(is_in(of_middle, (uintptr_t)middle) && !is_in(of_middle, (uintptr_t)outer));
    CHECK(is_in(of_outer, (uintptr_t)outer) && !is_in(of_outer, (uintptr_t)middle));
}

static void
what_is_on_no_stack_belongs_to_nobody(void)
{
    static char here;
    char *there = malloc(1);

    CHECK_NUMBER(snd_here_around((uintptr_t)&here), 0);
    CHECK_NUMBER(snd_here_around((uintptr_t)there), 0);
    CHECK_NUMBER(snd_here_around(0), 0);
    free(there);
}

static void
code_from_no_file_is_no_piece(void)
{
    snd_symbols *symbols = NULL;
    snd_range piece;

    REQUIRE(snd_symbols_new(&symbols) == SND_OK);
    CHECK(snd_symbols_piece(symbols, (uintptr_t)&piece, &piece) == SND_OK);
    CHECK(piece.start == 0 && piece.end == 0);
    CHECK(snd_symbols_piece(symbols, 8, &piece) == SND_OK && piece.end == 0);
    snd_symbols_free(symbols);
}

int
main(void)
{
    RUN(a_variable_belongs_to_the_function_that_has_it);
    RUN(what_is_on_no_stack_belongs_to_nobody);
    RUN(code_from_no_file_is_no_piece);
    return check_report();
}
