/* sonde.h as a C11 program uses it: this file is compiled without extensions. */
#include "sonde.h"

#include <stdio.h>
#include <string.h>

static sonde_site counter = SONDE_SITE("counter");

static int
work(int depth)
{
    SONDE_REGION("work");
    SONDE_REGION("twice in one scope");
    if (depth == 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        SONDE_REGION("loop");
        SONDE_COUNTER_ADD("loops", 1);
        if (work(depth - 1) != 0)
            return 1;
    }
    sonde_counter_set(&counter, depth);
    return 0;
}

int
main(void)
{
    sonde_options options = {0};

    if (sonde_start(&options) != 0)
        return printf("%s\n", sonde_error()), 1;
    SONDE_BEGIN("all");
    int result = work(3);
    SONDE_END();
    if (sonde_stop() != 0)
        return printf("%s\n", sonde_error()), 1;
    printf("%d passed, %d failed\n", result == 0 && strlen(sonde_version()) > 0, result);
    return result;
}
