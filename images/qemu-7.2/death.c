/*
 * When a signal ends the guest program, QEMU 7.2 gives that signal its default action and sends it to itself with the
 * C library's kill(). Nothing else in user mode calls that function: signals that the guest sends go to the kernel
 * directly. So its entry in the emulator's table of imported functions is put over with ours.
 */
#define _GNU_SOURCE
#include "death.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void (*called_before)(int signal);

static int dying_kill(pid_t process, int signal)
{
    if (process == getpid()) {
        called_before(signal);
    }
    return kill(process, signal);
}

static const ElfW(Dyn) *entry_of(const ElfW(Dyn) *dynamic, ElfW(Sxword) tag)
{
    while (dynamic->d_tag != DT_NULL && dynamic->d_tag != tag) {
        dynamic++;
    }
    return dynamic->d_tag == tag ? dynamic : NULL;
}

static bool put_over(void **slot)
{
    uintptr_t size = sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(size - 1));
    if (mprotect(page, size, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    *slot = (void *)dying_kill;
    mprotect(page, size, PROT_READ);
    return true;
}

/* Looks through one table of relocations for the slot of kill. */
static bool patch(const struct link_map *map, ElfW(Sxword) table_tag, ElfW(Sxword) size_tag)
{
    const ElfW(Dyn) *table = entry_of(map->l_ld, table_tag), *size = entry_of(map->l_ld, size_tag);
    const ElfW(Dyn) *symbols = entry_of(map->l_ld, DT_SYMTAB), *names = entry_of(map->l_ld, DT_STRTAB);
    if (!table || !size || !symbols || !names) {
        return false;
    }
    const ElfW(Rela) *relocation = (const void *)table->d_un.d_ptr;
    for (size_t i = 0; i < size->d_un.d_val / sizeof *relocation; i++) {
        const ElfW(Sym) *symbol = (const ElfW(Sym) *)symbols->d_un.d_ptr + ELF64_R_SYM(relocation[i].r_info);
        const char *name = (const char *)names->d_un.d_ptr + symbol->st_name;
        if (strcmp(name, "kill") == 0) {
            return put_over((void **)(map->l_addr + relocation[i].r_offset));
        }
    }
    return false;
}

bool before_death(void (*function)(int signal))
{
    called_before = function;
    /* The first object is the emulator itself. */
    const struct link_map *map = _r_debug.r_map;
    return patch(map, DT_JMPREL, DT_PLTRELSZ) || patch(map, DT_RELA, DT_RELASZ);
}
