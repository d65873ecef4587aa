// The rows of the filter's table, read without the assembler.
#pragma once

#include <linux/seccomp.h>

#include "linux/seccomp_table.h"

namespace cordon::test {

// The row that decides a call; null where none does and it is allowed.
const FilterRow* row_of(uint32_t features, bool x86, int number, const __u64* words);

}  // namespace cordon::test
