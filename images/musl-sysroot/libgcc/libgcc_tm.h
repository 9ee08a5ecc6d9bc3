/* __clear_cache is aarch64's own function, in sync-cache.c. */
extern void __aarch64_sync_cache_range(const void *, const void *);
#define CLEAR_INSN_CACHE(from, to) __aarch64_sync_cache_range(from, to)
