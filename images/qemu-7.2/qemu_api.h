/*
 * The part of QEMU's TCG plugin interface, version 1 (QEMU 7.2), that the counting plugin calls, declared from the
 * interface's documentation: Debian packages neither the header nor plugins.
 * https://www.qemu.org/docs/master/devel/tcg-plugins.html
 */
#ifndef QEMU_API_H
#define QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* What QEMU says of itself when it loads the plugin. */
typedef struct {
    const char *target_name; /* "aarch64", "aarch64_be", "x86_64", ... */
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus;
        int max_vcpus;
    } system;
} qemu_info_t;

enum { QEMU_CALLBACK_READS_NO_REGISTERS = 0 };
enum { QEMU_INLINE_ADD_U64 = 0 };

typedef void (*on_vcpu)(qemu_plugin_id_t id, unsigned int vcpu);
typedef void (*on_translation)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*on_execution)(unsigned int vcpu, void *data);
typedef void (*on_end)(qemu_plugin_id_t id, void *data);
typedef void (*on_syscall)(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, uint64_t a1, uint64_t a2,
                           uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, on_vcpu callback);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, on_translation callback);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, on_syscall callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, on_end callback, void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, on_execution callback, int registers,
                                          void *data);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *counter,
                                              uint64_t amount);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *instruction);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *instruction);
const char *qemu_plugin_path_to_binary(void);

#endif
