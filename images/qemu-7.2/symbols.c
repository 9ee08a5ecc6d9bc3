#include "symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct symbol {
    uint64_t start;
    uint64_t size;
    const char *name;
};

struct object {
    struct object *next;
    char *path;
    bool read;
    struct symbol *symbols; /* by start, in offsets of the file */
    size_t count;
};

/* A mapped file, and how to read it. Every access is checked against its size: the guest's files are not trusted. */
struct elf {
    const uint8_t *bytes;
    uint64_t size;
    bool big;
    bool wide;
};

struct section {
    uint64_t type, offset, size, link;
};

static struct object *objects;

static uint64_t number(const struct elf *elf, uint64_t at, unsigned bytes)
{
    uint64_t value = 0;
    if (at > elf->size || bytes > elf->size - at) {
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++) {
        value |= (uint64_t)elf->bytes[at + i] << 8 * (elf->big ? bytes - 1 - i : i);
    }
    return value;
}

/* A field whose place differs between the two sizes. */
#define FIELD(elf, base, type, field)                                                              \
    ((elf)->wide ? number(elf, (base) + offsetof(Elf64_##type, field), sizeof((Elf64_##type *)0)->field) \
                 : number(elf, (base) + offsetof(Elf32_##type, field), sizeof((Elf32_##type *)0)->field))

static struct section section_at(const struct elf *elf, uint64_t index)
{
    uint64_t at = FIELD(elf, 0, Ehdr, e_shoff) + index * FIELD(elf, 0, Ehdr, e_shentsize);
    return (struct section){FIELD(elf, at, Shdr, sh_type), FIELD(elf, at, Shdr, sh_offset),
                            FIELD(elf, at, Shdr, sh_size), FIELD(elf, at, Shdr, sh_link)};
}

/* Turns an address of the file's own layout into an offset of the file. */
static bool to_offset(const struct elf *elf, uint64_t address, uint64_t *offset)
{
    uint64_t table = FIELD(elf, 0, Ehdr, e_phoff), entry = FIELD(elf, 0, Ehdr, e_phentsize);
    uint64_t count = FIELD(elf, 0, Ehdr, e_phnum);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = table + i * entry, start = FIELD(elf, at, Phdr, p_vaddr);
        if (FIELD(elf, at, Phdr, p_type) == PT_LOAD && address >= start &&
            address - start < FIELD(elf, at, Phdr, p_filesz)) {
            *offset = address - start + FIELD(elf, at, Phdr, p_offset);
            return true;
        }
    }
    return false;
}

static int by_start(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

/* Assembly may leave a function's size out: then it goes on to the next function. */
static void stretch(struct object *object)
{
    uint64_t next = 0;
    for (size_t i = object->count; i-- > 0;) {
        struct symbol *symbol = &object->symbols[i];
        if (i + 1 < object->count && symbol[1].start > symbol->start) {
            next = symbol[1].start;
        }
        if (symbol->size == 0 && next) {
            symbol->size = next - symbol->start;
        }
    }
}

static void take_symbols(struct object *object, const struct elf *elf, struct section table, struct section names)
{
    uint64_t entry = elf->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    if (table.offset > elf->size || table.size > elf->size - table.offset || names.offset > elf->size ||
        names.size > elf->size - names.offset || names.size == 0 ||
        elf->bytes[names.offset + names.size - 1] != '\0') {
        return;
    }
    object->symbols = calloc(table.size / entry + 1, sizeof *object->symbols);
    if (!object->symbols) {
        return;
    }
    for (uint64_t at = table.offset; at + entry <= table.offset + table.size; at += entry) {
        struct symbol symbol = {0, FIELD(elf, at, Sym, st_size), NULL};
        uint64_t name = FIELD(elf, at, Sym, st_name);
        if ((FIELD(elf, at, Sym, st_info) & 0xf) != STT_FUNC || name >= names.size ||
            !to_offset(elf, FIELD(elf, at, Sym, st_value), &symbol.start)) {
            continue;
        }
        symbol.name = strdup((const char *)elf->bytes + names.offset + name);
        if (symbol.name) {
            object->symbols[object->count++] = symbol;
        }
    }
    qsort(object->symbols, object->count, sizeof *object->symbols, by_start);
    stretch(object);
}

static void parse(struct object *object, const struct elf *elf)
{
    uint64_t count = FIELD(elf, 0, Ehdr, e_shnum);
    struct section best = {0};
    for (uint64_t i = 0; i < count; i++) {
        struct section section = section_at(elf, i);
        /* The full table, or else the one that a stripped shared library keeps. */
        if (section.type == SHT_SYMTAB || (section.type == SHT_DYNSYM && best.type == 0)) {
            best = section;
        }
    }
    if (best.type && best.link < count) {
        take_symbols(object, elf, best, section_at(elf, best.link));
    }
}

static void read_symbols(struct object *object)
{
    struct stat status;
    object->read = true;
    int file = open(object->path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
        void *bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            struct elf elf = {bytes, status.st_size, false, false};
            elf.big = elf.bytes[EI_DATA] == ELFDATA2MSB;
            elf.wide = elf.bytes[EI_CLASS] == ELFCLASS64;
            if (memcmp(bytes, ELFMAG, SELFMAG) == 0) {
                parse(object, &elf);
            }
            munmap(bytes, status.st_size);
        }
    }
    close(file);
}

const struct object *object_of(const char *path)
{
    for (struct object *object = objects; object; object = object->next) {
        if (strcmp(object->path, path) == 0) {
            return object;
        }
    }
    struct object *object = calloc(1, sizeof *object);
    if (!object || !(object->path = strdup(path))) {
        free(object);
        return NULL;
    }
    object->next = objects;
    objects = object;
    return object;
}

const char *object_name(const struct object *object)
{
    const char *slash = strrchr(object->path, '/');
    return slash ? slash + 1 : object->path;
}

const char *object_function(const struct object *object, uint64_t offset)
{
    if (!object->read) {
        read_symbols((struct object *)object);
    }
    size_t low = 0, high = object->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (object->symbols[middle].start <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    /* Of several that start alike the last; one that has ended before may lie inside another, which is rare. */
    if (low == 0 || offset - object->symbols[low - 1].start >= object->symbols[low - 1].size) {
        return NULL;
    }
    return object->symbols[low - 1].name;
}
