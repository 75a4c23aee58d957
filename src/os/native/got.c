/* Leading calls elsewhere. A walk runs under the loader's lock on its list: no object goes away meanwhile. One may be
 * just coming, though: it is on the list before it is relocated, and its pages become read-only after that. */
#include "os/native/got.h"

#include "os/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { IS_SUPPORTED = 1, JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT, ADDRESS = R_X86_64_64 };
#elif defined(__aarch64__)
enum {
    IS_SUPPORTED = 1,
    JUMP_SLOT = R_AARCH64_JUMP_SLOT,
    GLOB_DAT = R_AARCH64_GLOB_DAT,
    ADDRESS = R_AARCH64_ABS64,
};
#else
enum { IS_SUPPORTED = 0, JUMP_SLOT = -1, GLOB_DAT = -2, ADDRESS = -3 };
#endif

/* No object takes that long from the list to its read-only pages: who is writable then was left so by somebody. */
#define LOADING_NS UINT64_C(2000000000)
#define AGAIN_NS UINT64_C(20000000) /* until then all objects are looked at this often at most */

enum {
    PLACES = 4 * SND_GOT_LIMIT, /* of the table of names */
    STARTS = 1024,              /* bits: which first two characters names have */
    NONE = 0xffff,
};

typedef _Atomic uintptr_t slot;

static struct got {
    pthread_mutex_t lock;
    const snd_got_hook *list; /* NULL: not running */
    size_t count;
    uintptr_t doors[SND_GOT_LIMIT]; /* 0: none; see find_real */
    uint16_t places[PLACES];        /* number of the hook by the hash of its name */
    uint64_t starts[STARTS / 64];
    uintptr_t page_size;
    uintptr_t own, allocator, loader, vdso; /* an address in each; 0: none */
    uintptr_t libc;                         /* the same, where it is left alone */
    unsigned long long adds;                /* objects that ever came, at the last walk */
    uint64_t adds_ns, walk_ns;              /* when that number was first seen; when all were looked at */
    int is_waiting;                         /* an object was not ready */
} got = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef enum purpose { LEAD, LEAD_BACK } purpose;

typedef struct walk {
    purpose purpose;
    int only_new;
    int is_settled; /* nothing can be loading */
    int is_waiting; /* out */
    unsigned long long adds;
} walk;

typedef struct range {
    uintptr_t start, end;
} range;

typedef struct object {
    walk *walk;
    uintptr_t base;
    const ElfW(Phdr) * headers;
    unsigned header_count;
    range relro;  /* whole pages */
    int is_apart; /* nothing is led to ours */
    const ElfW(Sym) * symbols;
    const char *names;
    size_t symbol_count, names_size; /* as many as there can be */
    uintptr_t open_page;             /* writable for the moment; 0: none */
} object;

/* ---- names ---- */

static uint32_t
hash_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

static unsigned
start_of(const char *name)
{
    return ((unsigned char)name[0] * 37u + (unsigned char)name[1]) % STARTS;
}

static void
add_name(uint16_t index)
{
    const char *name = got.list[index].name;
    uint32_t place = hash_of(name) % PLACES;

    while (got.places[place] != NONE)
        place = (place + 1) % PLACES;
    got.places[place] = index;
    got.starts[start_of(name) / 64] |= UINT64_C(1) << start_of(name) % 64;
}

/* Most names are told by their first two characters: a large library has 100,000. */
static unsigned
find_name(const char *name)
{
    if (name[0] == '\0' || (got.starts[start_of(name) / 64] >> start_of(name) % 64 & 1) == 0)
        return NONE;
    uint32_t place = hash_of(name) % PLACES;
    while (got.places[place] != NONE && strcmp(got.list[got.places[place]].name, name) != 0)
        place = (place + 1) % PLACES;
    return got.places[place];
}

/* ---- the object ---- */

/* The part of the file that is loaded around the address; NULL: none. */
static const ElfW(Phdr) * find_segment(const object *self, uintptr_t address)
{
    for (unsigned i = 0; i < self->header_count; i++) {
        const ElfW(Phdr) *header = &self->headers[i];
        if (header->p_type == PT_LOAD && address - self->base - header->p_vaddr < header->p_memsz)
            return header;
    }
    return NULL;
}

/* Bytes from the address to the end of its segment. */
static size_t
room_at(const object *self, uintptr_t address)
{
    const ElfW(Phdr) *header = find_segment(self, address);

    return header == NULL ? 0 : header->p_memsz - (address - self->base - header->p_vaddr);
}

/* The loader makes addresses of what the dynamic section has, but not everywhere. 0: neither is in the object. */
static uintptr_t
address_of(const object *self, uintptr_t value)
{
    if (room_at(self, value) != 0)
        return value;
    return room_at(self, value + self->base) != 0 ? value + self->base : 0;
}

static void
find_relro(object *self, const ElfW(Phdr) * header)
{
    uintptr_t start = self->base + header->p_vaddr;

    /* as the loader rounds: what is not a whole page stays writable */
    self->relro = (range){start & ~(got.page_size - 1), (start + header->p_memsz) & ~(got.page_size - 1)};
}

static const ElfW(Dyn) * find_dynamic(object *self)
{
    const ElfW(Dyn) *dynamic = NULL;

    for (unsigned i = 0; i < self->header_count; i++) {
        const ElfW(Phdr) *header = &self->headers[i];
        if (header->p_type == PT_DYNAMIC && room_at(self, self->base + header->p_vaddr) >= header->p_memsz)
            dynamic = (const void *)(self->base + header->p_vaddr);
        else if (header->p_type == PT_GNU_RELRO)
            find_relro(self, header);
    }
    return dynamic;
}

static int
has(const object *self, uintptr_t address)
{
    return address != 0 && find_segment(self, address) != NULL;
}

/* ---- one slot ---- */

/* 1: yes; 0: no; -1: cannot tell. Adds zero to it, where the kernel fails instead of faulting; so nothing changes, also
 * when somebody else writes it. */
static int
is_writable(uintptr_t address)
{
    uint32_t nobody = 0;
    long result = syscall(SYS_futex, &nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, NULL, address,
                          FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));

    return result >= 0 ? 1 : errno == EFAULT ? 0 : -1;
}

static void
close_page(object *self)
{
    if (self->open_page != 0)
        mprotect((void *)self->open_page, got.page_size, PROT_READ);
    self->open_page = 0;
}

/* 0: it cannot be written, or not yet. */
static int
open_page(object *self, uintptr_t address)
{
    uintptr_t page = address & ~(got.page_size - 1);

    if (address < self->relro.start || address >= self->relro.end || page == self->open_page)
        return 1;
    int writable = is_writable(address);
    if (writable == 1 && !self->walk->is_settled)
        self->walk->is_waiting = 1; /* it becomes read-only as soon as the loader is done with it */
    if (writable != 0)
        return writable == 1 && self->walk->is_settled;
    close_page(self);
    if (mprotect((void *)page, got.page_size, PROT_READ | PROT_WRITE) != 0)
        return 0;
    self->open_page = page;
    return 1;
}

static void
change(object *self, slot *place, uintptr_t from, void *to)
{
    if (open_page(self, (uintptr_t)place))
        atomic_compare_exchange_strong(place, &from, (uintptr_t)to); /* the loader may have been faster */
}

/* A slot that leads to the loader, by way of the object's own table of calls, until the first call. */
static int
is_unresolved(const object *self, const ElfW(Rela) * entry, const ElfW(Sym) * symbol, uintptr_t value)
{
    const ElfW(Phdr) *header = find_segment(self, value);

    return ELF64_R_TYPE(entry->r_info) == JUMP_SLOT && symbol->st_shndx == SHN_UNDEF && header != NULL &&
           (header->p_flags & PF_X) != 0;
}

/* What the file has in a slot: nothing, or the object's own address before it is loaded. */
static int
is_unrelocated(const object *self, uintptr_t value)
{
    return value == 0 || (self->base != 0 && has(self, self->base + value));
}

static void
lead(object *self, const ElfW(Rela) * entry, const ElfW(Sym) * symbol, slot *place, unsigned index)
{
    uintptr_t value = SND_GET(*place);
    uintptr_t real = (uintptr_t)*got.list[index].real;

    if (self->is_apart && value == got.doors[index] && value != 0)
        change(self, place, value, (void *)real);
    else if (self->is_apart)
        return;
    else if (value == real || is_unresolved(self, entry, symbol, value))
        change(self, place, value, got.list[index].ours);
    else if (is_unrelocated(self, value) && !self->walk->is_settled)
        self->walk->is_waiting = 1;
}

static void
visit(object *self, const ElfW(Rela) * entry)
{
    const ElfW(Sym) *symbol = &self->symbols[ELF64_R_SYM(entry->r_info)];
    unsigned index = symbol->st_name < self->names_size ? find_name(self->names + symbol->st_name) : NONE;
    uintptr_t address = self->base + entry->r_offset;

    if (index == NONE || *got.list[index].real == NULL || entry->r_addend != 0 || address % sizeof(slot) != 0)
        return;
    const ElfW(Phdr) *header = find_segment(self, address);
    if (header == NULL || (header->p_flags & PF_W) == 0)
        return;
    slot *place = (slot *)address;
    if (self->walk->purpose == LEAD)
        lead(self, entry, symbol, place, index);
    else if (SND_GET(*place) == (uintptr_t)got.list[index].ours)
        change(self, place, (uintptr_t)got.list[index].ours, *got.list[index].real);
}

/* ---- all slots ---- */

static void
visit_table(object *self, uintptr_t table, size_t size)
{
    const ElfW(Rela) *entries = (const void *)table;

    if (table == 0 || room_at(self, table) < size)
        return;
    for (size_t i = 0; i < size / sizeof *entries; i++) {
        uint32_t type = ELF64_R_TYPE(entries[i].r_info);
        size_t symbol = ELF64_R_SYM(entries[i].r_info);
        if ((type == JUMP_SLOT || type == GLOB_DAT || type == ADDRESS) && symbol != 0 && symbol < self->symbol_count)
            visit(self, &entries[i]);
    }
}

static void
visit_object(object *self)
{
    uintptr_t calls = 0, others = 0;
    size_t calls_size = 0, others_size = 0, names_size = 0;
    const ElfW(Dyn) *dynamic = find_dynamic(self);

    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        switch (dynamic->d_tag) {
        case DT_JMPREL:
            calls = address_of(self, dynamic->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            calls_size = dynamic->d_un.d_val;
            break;
        case DT_RELA:
            others = address_of(self, dynamic->d_un.d_ptr);
            break;
        case DT_RELASZ:
            others_size = dynamic->d_un.d_val;
            break;
        case DT_SYMTAB:
            self->symbols = (const void *)address_of(self, dynamic->d_un.d_ptr);
            break;
        case DT_STRTAB:
            self->names = (const void *)address_of(self, dynamic->d_un.d_ptr);
            break;
        case DT_STRSZ:
            names_size = dynamic->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (self->symbols == NULL || self->names == NULL || room_at(self, (uintptr_t)self->names) < names_size)
        return;
    self->symbol_count = room_at(self, (uintptr_t)self->symbols) / sizeof *self->symbols;
    self->names_size = names_size;
    visit_table(self, others, others_size);
    visit_table(self, calls, calls_size);
    close_page(self);
}

static int
take(struct dl_phdr_info *info, size_t size, void *context)
{
    walk *self = context;
    object one = {.walk = self, .base = info->dlpi_addr, .headers = info->dlpi_phdr, .header_count = info->dlpi_phnum};

    (void)size;
    if (self->only_new && info->dlpi_adds == got.adds)
        return 1;
    self->only_new = 0;
    self->is_settled &= self->purpose == LEAD_BACK || info->dlpi_adds == got.adds;
    self->adds = info->dlpi_adds;
    if (has(&one, got.loader) || has(&one, got.vdso))
        return 0;
    one.is_apart = has(&one, got.own) || has(&one, got.allocator) || has(&one, got.libc);
    visit_object(&one);
    return 0;
}

/* Returns whether there was anything to do. */
static int
walk_all(walk *self)
{
    int saved_errno = errno;
    int was_stopped = dl_iterate_phdr(take, self);

    errno = saved_errno;
    return !was_stopped;
}

/* ---- the functions and objects that are needed ---- */

/* A program that is loaded at a fixed address and takes the address of a function has an entry of its own table of
 * calls for it: the function's address for the whole process, but for calls. It leads to the program's slot, which
 * becomes ours; so it is not the real function, and objects of ours must not go through that door. */
static int
is_door(void *function)
{
    Dl_info about;
    const ElfW(Sym) *symbol = NULL;

    return dladdr1(function, &about, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL &&
           symbol->st_shndx == SHN_UNDEF;
}

static void *
base_of(void *function)
{
    Dl_info about;

    return function != NULL && dladdr(function, &about) != 0 ? about.dli_fbase : NULL;
}

/* The function that the program's door leads to: the first one after the program itself, in the loader's order, in
 * which libraries that were preloaded come first. RTLD_NEXT would pass over those, since they come before us, too. */
static void *
find_behind_door(const char *name)
{
    const struct r_debug *debug = dlsym(RTLD_DEFAULT, "_r_debug");
    const struct link_map *map = debug == NULL || debug->r_map == NULL ? NULL : debug->r_map->l_next;

    for (; map != NULL; map = map->l_next) {
        void *handle = map->l_name[0] == '\0' ? NULL : dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
        void *found = handle == NULL ? NULL : dlsym(handle, name);
        if (handle != NULL)
            dlclose(handle);
        if (found != NULL && (uintptr_t)base_of(found) == map->l_addr) /* its own, not one of what it needs */
            return found;
    }
    return NULL;
}

static void *
find_real(const char *name, uintptr_t *door)
{
    void *real = dlsym(RTLD_DEFAULT, name);

    *door = 0;
    if (real == NULL || !is_door(real))
        return real;
    *door = (uintptr_t)real;
    return find_behind_door(name);
}

/* Allocators call mmap and the like themselves: what they take is counted when they give it. libc's does so without a
 * slot. */
static uintptr_t
find_allocator(void)
{
    uintptr_t door;
    void *allocate = find_real("malloc", &door);

    return base_of(allocate) == base_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")) ? 0 : (uintptr_t)allocate;
}

static void
add_hook(uint16_t index)
{
    const snd_got_hook *hook = &got.list[index];
    void *real = find_real(hook->name, &got.doors[index]);

    if (*hook->real != real) /* a call that began before the last stop may still read it */
        *hook->real = real;
    add_name(index);
}

static void
prepare(void)
{
    const struct r_debug *debug = dlsym(RTLD_DEFAULT, "_r_debug");

    got.page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    got.own = (uintptr_t)snd_got_start;
    got.allocator = find_allocator();
    got.loader = debug == NULL ? getauxval(AT_BASE) : debug->r_ldbase;
    got.vdso = getauxval(AT_SYSINFO_EHDR);
#ifdef __SANITIZE_THREAD__ /* libc allocates in threads that it does not know yet, and there it dies of our functions \
                            */
    got.libc = (uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
#endif
    memset(got.starts, 0, sizeof got.starts);
    memset(got.places, 0xff, sizeof got.places);
    for (size_t i = 0; i < got.count; i++)
        add_hook((uint16_t)i);
}

/* ---- the interface ---- */

static void
lead_all(int has_loaded)
{
    uint64_t now = snd_clock_monotonic_ns();
    walk all = {
        .purpose = LEAD,
        .only_new = !got.is_waiting || (!has_loaded && now - got.walk_ns < AGAIN_NS),
        .is_settled = got.is_waiting && now - got.adds_ns > LOADING_NS,
    };

    if (!walk_all(&all))
        return;
    if (got.adds != all.adds)
        got.adds_ns = now;
    got.adds = all.adds;
    got.walk_ns = now;
    got.is_waiting = all.is_waiting;
}

snd_status
snd_got_start(const snd_got_hook *list, size_t count)
{
    snd_status status = SND_OK;

    if (count > SND_GOT_LIMIT)
        return SND_BAD_ARGUMENT;
    if (!IS_SUPPORTED)
        return SND_SYSTEM;
    pthread_mutex_lock(&got.lock);
    if (got.list != NULL) {
        status = SND_ALREADY;
    }
    else {
        got.list = list;
        got.count = count;
        got.adds = 0;
        got.is_waiting = 0;
        prepare();
        lead_all(0);
    }
    pthread_mutex_unlock(&got.lock);
    return status;
}

void
snd_got_refresh(int has_loaded)
{
    pthread_mutex_lock(&got.lock);
    if (got.list != NULL)
        lead_all(has_loaded);
    pthread_mutex_unlock(&got.lock);
}

void
snd_got_stop(void)
{
    walk all = {.purpose = LEAD_BACK, .is_settled = 1}; /* a slot that is ours is not being loaded */

    pthread_mutex_lock(&got.lock);
    if (got.list != NULL)
        (void)walk_all(&all);
    got.list = NULL;
    pthread_mutex_unlock(&got.lock);
}

void
snd_got_before_fork(void)
{
    pthread_mutex_lock(&got.lock);
}

void
snd_got_after_fork(void)
{
    pthread_mutex_unlock(&got.lock);
}
