// The rules that can be broken on purpose, to show that the conformance suite would notice.
#pragma once

#include <cstddef>
#include <string_view>

#define TESSERA_STAND_IN_MUTATIONS(X)                                                          \
  X(init_takes_flags)           /* cuInit with flags succeeds */                               \
  X(no_init_needed)             /* calls before cuInit do not give 3 */                        \
  X(any_ordinal)                /* cuDeviceGet takes a number that is not there */             \
  X(uuids_equal)                /* all GPUs have one UUID */                                   \
  X(uuid_changes)               /* a GPU has another UUID in each process */                   \
  X(no_context_needed)          /* memory calls work without a current context */              \
  X(retain_makes_current)       /* retaining a primary context makes it current */             \
  X(release_without_retain)     /* releasing what was never retained succeeds */               \
  X(release_keeps_memory)       /* the last release leaves the allocations */                  \
  X(contexts_shared_by_threads) /* what one thread makes current is so for all */              \
  X(fork_works)                 /* a forked child may go on */                                 \
  X(alloc_of_nothing)           /* cuMemAlloc(0) succeeds */                                   \
  X(alloc_without_end)          /* more memory than there is can be had */                     \
  X(unknown_free)               /* cuMemFree of any number succeeds */                         \
  X(range_is_block)             /* cuMemGetAddressRange tells the block, not the allocation */ \
  X(info_is_constant)           /* cuMemGetInfo does not count allocations */                  \
  X(handle_changes)             /* each handle of one allocation is another */                 \
  X(handle_at_offset)           /* a pointer inside gives a handle to that pointer */          \
  X(handle_lives_again)         /* a new allocation at an old address has the old handle */    \
  X(managed_exports)            /* managed memory has a handle */                              \
  X(pool_exports)               /* memory of a pool has a handle */                            \
  X(vmm_exports)                /* VMM memory has a handle */                                  \
  X(own_handle_opens)           /* the exporting process may open its handle */                \
  X(garbage_opens)              /* a handle of any bytes opens */                              \
  X(open_copies)                /* an importer sees a copy */                                  \
  X(reopen_moves)               /* a second open gives another address */                      \
  X(first_close_unmaps)         /* closing once ends all opens */                              \
  X(unknown_close)              /* closing any number succeeds */                              \
  X(free_takes_from_importer)   /* freeing takes the bytes from the importer */                \
  X(death_takes_from_importer)  /* the exporter's end takes the bytes from the importer */     \
  X(import_is_not_counted)      /* memory kept by an importer counts as free */                \
  X(dead_memory_stays)          /* memory of a dead process is not given back */               \
  X(legacy_capable_always)      /* every pointer says it is fit for legacy IPC */              \
  X(buffer_id_returns)          /* a buffer id is used again */                                \
  X(attributes_fail_together)   /* cuPointerGetAttributes fails for host memory */             \
  X(event_pends_unrecorded)     /* an event that was never recorded is not complete */         \
  X(any_event_exports)          /* an event without the flags has a handle */                  \
  X(streams_unordered)          /* a copy of a stream overtakes those before it */             \
  X(wait_event_ignored)         /* cuStreamWaitEvent waits for nothing */                      \
  X(legacy_stream_unordered)    /* the default stream does not wait for blocking streams */    \
  X(pitch_ignored)              /* cuMemcpy2D takes lines as if they had no pitch */           \
  X(vmm_any_size)               /* cuMemCreate takes any size */                               \
  X(vmm_access_at_once)         /* mapped memory can be used without cuMemSetAccess */         \
  X(vmm_release_frees)          /* releasing the handle takes the bytes from the mapping */    \
  X(vmm_fd_keeps_nothing)       /* an exported descriptor does not keep memory alive */        \
  X(vmm_reservation_any)        /* cuMemMap takes addresses that nobody reserved */            \
  X(vmm_half_unmap)             /* cuMemUnmap takes half a mapping */                          \
  X(proc_address_unknown_fails) /* cuGetProcAddress_v2 fails for unknown names */

namespace tessera::stand_in {

// NOLINTBEGIN(readability-identifier-naming): as they are written in the environment
enum class Mutation : unsigned {
#define TESSERA_X(name) name,
  TESSERA_STAND_IN_MUTATIONS(TESSERA_X)
#undef TESSERA_X
};
// NOLINTEND(readability-identifier-naming)

inline constexpr std::string_view kMutationNames[] = {
#define TESSERA_X(name) #name,
    TESSERA_STAND_IN_MUTATIONS(TESSERA_X)
#undef TESSERA_X
};
inline constexpr std::size_t kMutationCount = sizeof(kMutationNames) / sizeof(kMutationNames[0]);

}  // namespace tessera::stand_in
