#include "test/filter_rows.h"

namespace cordon::test {
namespace {

uint32_t low(uint64_t word) { return static_cast<uint32_t>(word); }

bool is_filesystem_ioctl(uint32_t request) {
  for (uint32_t harmless : kHarmlessIoctls) {
    if (request == harmless) return false;
  }
  for (uint32_t driver : kFilesystemIoctls) {
    if ((request >> 8 & 0xff) == driver) return true;
  }
  return false;
}

// The meaning of a condition, said without the assembler.
bool holds(const FilterRow& row, const __u64* words) {
  uint64_t first = words[row.argument];
  auto after = [&](unsigned steps) { return words[row.argument + steps]; };
  switch (row.test) {
    case Test::kAlways:
      return true;
    case Test::kEquals:
      return low(first) == row.value;
    case Test::kAnyBit:
      return (low(first) & row.value) != 0;
    case Test::kPairEquals:
      return low(first) == row.value && low(after(1)) == row.second;
    case Test::kEqualsAndSet:
      return low(first) == row.value && after(1) != 0;
    case Test::kOtherAndSet:
      return low(first) != 0 && after(2) != 0;
    case Test::kCreatesSetId:
      return (low(first) & (kOpenCreat | kOpenTmpfile)) != 0 && (low(after(1)) & kSetIdBits) != 0;
    case Test::kTruncates:
      return (low(first) & kOpenTrunc) != 0;
    case Test::kOddUnixSocket: {
      uint32_t type = low(after(1)) & kSocketTypeMask;
      return low(first) == kFamilyUnix && type != kSocketStream && type != kSocketSeqpacket;
    }
    case Test::kMetadataIoctl:
      return is_filesystem_ioctl(low(first));
  }
  return false;
}

}  // namespace

const FilterRow* row_of(uint32_t features, bool x86, int number, const __u64* words) {
  for (const FilterRow& row : kFilterRows) {
    int own = x86 ? row.x86_64 : row.arm64;
    if (own == number && (row.features & features) != 0 && holds(row, words)) return &row;
  }
  return nullptr;
}

}  // namespace cordon::test
