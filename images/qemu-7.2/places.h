/* Where an address lies: the file that is mapped there, the offset in it, and the function by the file's own table. */
#ifndef PLACES_H
#define PLACES_H

#include <stdint.h>

struct place {
    const char *object;   /* base name of the file, or "[anonymous]"; lives as long as the process */
    const char *function; /* by the file's symbol table, or NULL; lives as long as the process */
    uint64_t offset;      /* in the file; of an anonymous mapping the host's address */
};

/* Finds the place of a host address. Not safe for threads: the caller locks. */
struct place place_of(uintptr_t address);

/* Mappings may have changed; the next lookup reads them again. */
void places_forget(void);

#endif
