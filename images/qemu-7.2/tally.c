#include "tally.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUCKETS = 4096, NAMES_TRIED = 10000 };

static struct function *buckets[BUCKETS];
static size_t functions;
static struct block *blocks;

static char *pattern;        /* absolute */
static char written[PATH_MAX]; /* this process's own file, once there is one */

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);
    if (!memory) {
        abort(); /* a count that silently lacks a part would be worse */
    }
    return memory;
}

struct function *function_of(const char *name, const char *object)
{
    unsigned hash = 5381;
    for (const char *c = name; *c; c++) {
        hash = hash * 33 + (unsigned char)*c;
    }
    struct function **bucket = &buckets[hash % BUCKETS];
    for (struct function *function = *bucket; function; function = function->next) {
        if (strcmp(function->name, name) == 0 && strcmp(function->object, object) == 0) {
            return function;
        }
    }
    struct function *function = allocate(sizeof *function);
    *function = (struct function){*bucket, strdup(name), object, 0};
    if (!function->name) {
        abort();
    }
    functions++;
    return *bucket = function;
}

struct block *new_block(size_t portions)
{
    struct block *block = allocate(sizeof *block + portions * sizeof *block->portions);
    block->next = blocks;
    return blocks = block;
}

void tally_restart(void)
{
    for (struct block *block = blocks; block; block = block->next) {
        block->executions = 0;
    }
}

bool output_to(const char *path)
{
    char folder[PATH_MAX] = "";
    if (path[0] != '/' && !getcwd(folder, sizeof folder)) {
        return false;
    }
    pattern = allocate(strlen(folder) + strlen(path) + 2);
    sprintf(pattern, "%s%s%s", folder, *folder ? "/" : "", path);

    char *parent = strdup(pattern);
    if (!parent) {
        return false;
    }
    char *slash = strrchr(parent, '/');
    slash[slash == parent] = '\0';
    bool usable = access(parent, W_OK | X_OK) == 0;
    free(parent);
    return usable;
}

void output_renew(void)
{
    written[0] = '\0';
}

/* Puts the process's number in the pattern's place for it, and a serial number from 2 on before the last dot. */
static void file_name(char *name, size_t room, unsigned serial)
{
    size_t used = 0;
    const char *dot = strrchr(pattern, '.'), *slash = strrchr(pattern, '/');
    if (!dot || dot < slash) {
        dot = pattern + strlen(pattern);
    }
    name[0] = '\0';
    for (const char *c = pattern;; c++) {
        if (c == dot && serial > 1) {
            used += snprintf(name + used, room - used, "-%u", serial);
        }
        if (!*c || used + 32 > room) {
            return;
        }
        if (c[0] == '%' && c[1] == 'p') {
            used += snprintf(name + used, room - used, "%ld", (long)getpid());
            c++;
        } else {
            c += c[0] == '%' && c[1] == '%';
            name[used++] = *c;
            name[used] = '\0';
        }
    }
}

static void print_text(FILE *file, const char *text)
{
    putc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(file, "\\%c", *c);
        } else if (*c < 0x20 || *c >= 0x7f) {
            fprintf(file, "\\u%04x", *c);
        } else {
            putc(*c, file);
        }
    }
    putc('"', file);
}

static int by_count(const void *a, const void *b)
{
    const struct function *x = *(struct function *const *)a, *y = *(struct function *const *)b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->object, y->object);
}

/* Adds up the blocks; gives the functions in the order of the file. */
static struct function **add_up(uint64_t *instructions, uint64_t classes[CLASSES_MAX])
{
    struct function **sorted = allocate((functions + 1) * sizeof *sorted);
    size_t used = 0;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct function *function = buckets[i]; function; function = function->next) {
            function->count = 0;
            sorted[used++] = function;
        }
    }
    for (const struct block *block = blocks; block; block = block->next) {
        for (uint32_t i = 0; i < block->used; i++) {
            uint64_t count = block->executions * block->portions[i].instructions;
            block->portions[i].function->count += count;
            *instructions += count;
        }
        for (size_t i = 0; i < CLASSES_MAX; i++) {
            classes[i] += block->executions * block->classes[i];
        }
    }
    qsort(sorted, used, sizeof *sorted, by_count);
    return sorted;
}

static void print_death(FILE *file, const struct death *death)
{
    fprintf(file, ",\n \"signal\": %d", death->signal);
    if (death->function) {
        fprintf(file, ", \"illegal\": {\"name\": ");
        print_text(file, death->function->name);
        fprintf(file, ", \"object\": ");
        print_text(file, death->function->object);
        fprintf(file, ", \"address\": %llu}", (unsigned long long)death->address);
    }
}

static void print_tally(FILE *file, const struct class_set *classes, const char *program, const struct death *death)
{
    uint64_t instructions = 0, sums[CLASSES_MAX] = {0};
    struct function **sorted = add_up(&instructions, sums);
    fprintf(file, "{\"schema\": 1, \"program\": ");
    print_text(file, program);
    fprintf(file, ", \"pid\": %ld, \"instructions\": %llu,\n \"functions\": [", (long)getpid(),
            (unsigned long long)instructions);
    for (size_t i = 0; i < functions && sorted[i]->count; i++) {
        fprintf(file, "%s\n  {\"name\": ", i ? "," : "");
        print_text(file, sorted[i]->name);
        fprintf(file, ", \"object\": ");
        print_text(file, sorted[i]->object);
        fprintf(file, ", \"count\": %llu}", (unsigned long long)sorted[i]->count);
    }
    fprintf(file, "],\n \"classes\": {");
    for (size_t i = 0; i < CLASSES_MAX && classes->names[i]; i++) {
        fprintf(file, "%s\"%s\": %llu", i ? ", " : "", classes->names[i], (unsigned long long)sums[i]);
    }
    putc('}', file);
    if (death) {
        print_death(file, death);
    }
    fprintf(file, "}\n");
    free(sorted);
}

/*
 * Gives the finished file its name. A name that is taken belongs to another program that ran under the same process
 * number, before exec; then a serial number tells the two apart.
 */
static void publish(const char *partial)
{
    if (written[0]) {
        rename(partial, written);
        return;
    }
    for (unsigned serial = 1; serial < NAMES_TRIED; serial++) {
        file_name(written, sizeof written, serial);
        if (link(partial, written) == 0) {
            unlink(partial);
            return;
        }
        if (errno != EEXIST) {
            rename(partial, written); /* a file system without links */
            return;
        }
    }
    written[0] = '\0';
}

void tally_write(const struct class_set *classes, const char *program, const struct death *death)
{
    char partial[PATH_MAX + 32];
    char name[PATH_MAX];
    file_name(name, sizeof name, 1);
    snprintf(partial, sizeof partial, "%s.%ld.partial", name, (long)getpid());
    FILE *file = fopen(partial, "we");
    if (!file) {
        return; /* the program's stderr is not ours; the missing file says it */
    }
    print_tally(file, classes, program, death);
    bool complete = !ferror(file);
    complete = fclose(file) == 0 && complete;
    if (complete) {
        publish(partial);
    } else {
        unlink(partial);
    }
}
