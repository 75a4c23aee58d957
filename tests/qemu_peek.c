/* process_vm_readv for qemu's user mode, which has none; preloaded where tests run. A process reads only itself. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* The set of signals is read before it is said that -1 is no way to use it. */
static int
is_readable(const char *page)
{
    return syscall(SYS_rt_sigprocmask, -1, page, NULL, 8) == -1 && errno != EFAULT;
}

/* Page by page, as the kernel does: what is there before the first page that is not has been copied. */
ssize_t
process_vm_readv(pid_t process, const struct iovec *to, unsigned long to_count, const struct iovec *from,
                 unsigned long from_count, unsigned long flags)
{
    const char *start = from->iov_base;
    size_t done = 0, size = from->iov_len;

    if (process != getpid() || to_count != 1 || from_count != 1 || flags != 0 || to->iov_len < size) {
        errno = ENOSYS;
        return -1;
    }
    while (done < size) {
        size_t inside = (size_t)(start + done) % PAGE, part = PAGE - inside;
        if (!is_readable(start + done - inside))
            break;
        if (part > size - done)
            part = size - done;
        memcpy((char *)to->iov_base + done, start + done, part);
        done += part;
    }
    if (done == 0 && size != 0) {
        errno = EFAULT;
        return -1;
    }
    return (ssize_t)done;
}
