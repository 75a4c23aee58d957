/* A library with a C++ name, and libstdc++ behind it. */
#include <string>

namespace native {
template <class T> struct box {
    __attribute__((noinline)) static std::string open(T value)
    {
        return std::to_string(value);
    }
};
} // namespace native

extern "C" void *
native_address(void)
{
    std::string (*function)(int) = native::box<int>::open;
    return reinterpret_cast<void *>(function);
}
