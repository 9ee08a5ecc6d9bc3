#include "places.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

struct mapping {
    uintptr_t start;
    uintptr_t end;
    uint64_t offset;
    const struct object *object; /* NULL where no file is mapped */
};

static struct mapping *mappings;
static size_t mappings_used;
static size_t mappings_room;
static bool known;

static void add(struct mapping mapping)
{
    if (mappings_used == mappings_room) {
        size_t room = mappings_room ? 2 * mappings_room : 256;
        struct mapping *grown = realloc(mappings, room * sizeof *grown);
        if (!grown) {
            return;
        }
        mappings = grown;
        mappings_room = room;
    }
    mappings[mappings_used++] = mapping;
}

/* The guest's files are mapped into QEMU's own address space, so the host's kernel knows them. */
static void read_mappings(void)
{
    mappings_used = 0;
    known = true;
    FILE *file = fopen("/proc/self/maps", "re");
    if (!file) {
        return;
    }
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        unsigned long start, end, offset;
        int path = 0;
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &path) != 3) {
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        bool file_backed = path > 0 && line[path] == '/';
        add((struct mapping){start, end, offset, file_backed ? object_of(line + path) : NULL});
    }
    free(line);
    fclose(file);
}

/* The kernel lists mappings by address. */
static const struct mapping *find(uintptr_t address)
{
    size_t low = 0, high = mappings_used;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (address >= mappings[middle].end) {
            low = middle + 1;
        } else if (address < mappings[middle].start) {
            high = middle;
        } else {
            return &mappings[middle];
        }
    }
    return NULL;
}

struct place place_of(uintptr_t address)
{
    const struct mapping *mapping = known ? find(address) : NULL;
    if (!mapping) {
        read_mappings();
        mapping = find(address);
    }
    if (!mapping || !mapping->object) {
        return (struct place){"[anonymous]", NULL, address};
    }
    uint64_t offset = address - mapping->start + mapping->offset;
    return (struct place){object_name(mapping->object), object_function(mapping->object, offset), offset};
}

void places_forget(void)
{
    known = false;
}
