#include "runtime/memory.hpp"

#include <malloc.h>

namespace oncepay::runtime {

void keep_freed_memory() {
  constexpr int mapped_alone_from = 32 * 1024 * 1024;  // the most that glibc takes
  mallopt(M_MMAP_THRESHOLD, mapped_alone_from);
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(freed_bytes_kept_max));
}

}  // namespace oncepay::runtime
