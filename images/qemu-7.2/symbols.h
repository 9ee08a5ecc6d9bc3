/* Functions by the symbol table of an ELF file of either byte order and size. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdint.h>

struct object;

/* Gives the object of a path, the same one each time; its symbols are read when they are first asked for. */
const struct object *object_of(const char *path);

/* Gives the base name of its path. */
const char *object_name(const struct object *object);

/* Gives the function at an offset of the file, or NULL. */
const char *object_function(const struct object *object, uint64_t offset);

#endif
