/* sonde.h as a C++17 program uses it: regions end when an exception passes. */
#include "sonde.h"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

class worker {
public:
    void work(int depth)
    {
        SONDE_REGION("worker::work");
        SONDE_COUNTER_SET("depth", depth);
        if (depth == 0)
            throw std::runtime_error("deep enough");
        work(depth - 1);
    }
};

bool
an_exception_ends_its_regions()
{
    static sonde_site outer = SONDE_SITE("outer");
    sonde_span *span = sonde_enter(&outer);
    bool caught = false;

    try {
        worker().work(3);
    }
    catch (const std::runtime_error &) {
        caught = true;
    }
    auto in_lambda = [] {
        SONDE_REGION("in a lambda");
        SONDE_COUNTER_ADD("calls", 1);
    };
    in_lambda();
    sonde_leave(span);
    return caught;
}

} // namespace

int
main()
{
    sonde_options options{};

    if (sonde_start(&options) != 0)
        return std::printf("%s\n", sonde_error()), 1;
    SONDE_BEGIN("all");
    bool is_right = an_exception_ends_its_regions();
    SONDE_END();
    is_right = sonde_stop() == 0 && is_right && !std::string(sonde_version()).empty();
    std::printf("%d passed, %d failed\n", is_right, !is_right);
    return is_right ? 0 : 1;
}
