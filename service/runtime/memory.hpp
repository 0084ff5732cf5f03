// How the allocator treats what was freed.
//
// By default glibc gives memory above 128 KiB back to the kernel at once and asks for it again with
// the next batch, page by page: binding the answers of one batch spent twenty times longer in page
// faults than in writing the bytes. Deliberately not here: an allocator of our own.
//
// Threads: once, first thing in main.
// Source: mallopt(3), M_MMAP_THRESHOLD, M_TRIM_THRESHOLD.
#pragma once

#include <cstddef>

namespace oncepay::runtime {

inline constexpr std::size_t freed_bytes_kept_max = 64 * 1024 * 1024;  // of each arena

void keep_freed_memory();

}  // namespace oncepay::runtime
