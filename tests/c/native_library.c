/* A library that the tests of native symbols load: with names, and once more stripped. */

/* Calls `visit` from a function without an exported name. */
int native_call(int (*visit)(void *), void *context);
/* The address of that function. */
void *native_hidden(void);

__attribute__((noinline)) static int
hidden_function(int (*visit)(void *), void *context)
{
    volatile char room[200];

    room[0] = 1;
    return visit(context) + room[0];
}

__attribute__((noinline)) int
native_call(int (*visit)(void *), void *context)
{
    volatile int above = 1;

    return hidden_function(visit, context) + above;
}

void *
native_hidden(void)
{
    return (void *)hidden_function;
}
