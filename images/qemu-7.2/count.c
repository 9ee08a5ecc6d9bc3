/*
 * Counts the guest instructions that a program executes, by function and by class of crypto instruction.
 *
 *   qemu-aarch64 -plugin count.so,out=/scratch/count-%p.json PROGRAM
 *
 * Each translated block gets one counter, added to when the block is entered; what the block holds is noted when it is
 * translated. docs/explanation/counting.md says where that is exact.
 *
 * Threads: while there is one, the counter is a plain addition in the translated code. When a program starts its
 * second thread, QEMU throws away all translated code and translates anew for parallel execution; from then on every
 * block calls us and we add atomically.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "death.h"
#include "places.h"
#include "qemu_api.h"
#include "tally.h"

PLUGIN_EXPORT int qemu_plugin_version = 1;

enum { PAGE_SIZE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct class_set *classes;
static int64_t exec_numbers[2] = {-1, -1};
static atomic_uint threads_started;

/* The last instruction that was translated. An illegal one ends its block and is met at once. */
static _Thread_local const struct function *last_function;
static _Thread_local uint64_t last_address;

/* A function without a symbol is named by its file and page. */
static struct function *unnamed(const struct place *place)
{
    char name[512];
    snprintf(name, sizeof name, "%s+0x%llx", place->object,
             (unsigned long long)(place->offset & ~(uint64_t)(PAGE_SIZE - 1)));
    return function_of(name, place->object);
}

static struct function *function_at(const struct qemu_plugin_insn *instruction)
{
    const char *symbol = qemu_plugin_insn_symbol(instruction);
    struct place place = place_of((uintptr_t)qemu_plugin_insn_haddr(instruction));
    if (!symbol) {
        symbol = place.function;
    }
    return symbol ? function_of(symbol, place.object) : unnamed(&place);
}

static int class_of(const struct qemu_plugin_insn *instruction)
{
    char *text = classes->by_text ? qemu_plugin_insn_disas(instruction) : NULL;
    int class = -1;
    if (text || !classes->by_text) {
        class = classes->classify(qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction), text);
    }
    free(text);
    return class;
}

static void add_instruction(struct block *block, const struct qemu_plugin_insn *instruction)
{
    struct function *function = function_at(instruction);
    struct portion *last = block->used ? &block->portions[block->used - 1] : NULL;
    if (last && last->function == function) {
        last->instructions++;
    } else {
        block->portions[block->used++] = (struct portion){function, 1};
    }
    int class = class_of(instruction);
    if (class >= 0) {
        block->classes[class]++;
    }
}

static void count_entry(unsigned int vcpu, void *data)
{
    (void)vcpu;
    struct block *block = data;
    __atomic_fetch_add(&block->executions, 1, __ATOMIC_RELAXED);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    size_t count = qemu_plugin_tb_n_insns(tb);
    pthread_mutex_lock(&lock);
    struct block *block = new_block(count);
    for (size_t i = 0; i < count; i++) {
        add_instruction(block, qemu_plugin_tb_get_insn(tb, i));
    }
    last_function = block->used ? block->portions[block->used - 1].function : NULL;
    last_address = count ? qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, count - 1)) : 0;
    pthread_mutex_unlock(&lock);
    if (atomic_load(&threads_started) > 1) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, count_entry, QEMU_CALLBACK_READS_NO_REGISTERS, block);
    } else {
        qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_INLINE_ADD_U64, &block->executions, 1);
    }
}

static void thread_started(qemu_plugin_id_t id, unsigned int vcpu)
{
    (void)id;
    (void)vcpu;
    atomic_fetch_add(&threads_started, 1);
}

static void write_counts(const struct death *death)
{
    const char *program = qemu_plugin_path_to_binary();
    pthread_mutex_lock(&lock);
    tally_write(classes, program ? program : "", death);
    pthread_mutex_unlock(&lock);
    free((void *)program);
}

static void ended(qemu_plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    write_counts(NULL);
}

static void dying(int signal)
{
    bool illegal = signal == SIGILL && last_function;
    struct death death = {signal, illegal ? last_function : NULL, illegal ? last_address : 0};
    write_counts(&death);
}

/* exec replaces the emulator itself and nothing is called then, so the counts are written before. */
static void syscall_begins(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, uint64_t a1, uint64_t a2,
                           uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)vcpu, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number == exec_numbers[0] || number == exec_numbers[1]) {
        write_counts(NULL);
    }
    places_forget();
}

/* The child counts what it executes itself: all files together then hold every instruction once. */
static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void)
{
    tally_restart();
    output_renew();
    pthread_mutex_unlock(&lock);
}

/* execve and execveat by target: the kernel's numbers. */
static void know_exec(const char *target)
{
    if (strncmp(target, "aarch64", 7) == 0 || strcmp(target, "riscv64") == 0) {
        exec_numbers[0] = 221;
        exec_numbers[1] = 281;
    } else if (strcmp(target, "x86_64") == 0) {
        exec_numbers[0] = 59;
        exec_numbers[1] = 322;
    }
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    const char *out = NULL;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) {
            out = argv[i] + 4;
        } else {
            fprintf(stderr, "count.so: unknown argument '%s'; there is out=PATH\n", argv[i]);
            return -1;
        }
    }
    if (!out || !output_to(out)) {
        fprintf(stderr, "count.so: %s%s; give out=PATH in a folder that can be written\n",
                out ? "cannot write " : "no output file", out ? out : "");
        return -1;
    }
    classes = classes_of(info->target_name);
    know_exec(info->target_name);
    before_death(dying);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    qemu_plugin_register_vcpu_init_cb(id, thread_started);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, syscall_begins);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
