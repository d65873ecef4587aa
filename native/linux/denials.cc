#include "linux/denials.h"

#include <sys/mman.h>

#include "linux/control.h"
#include "linux/processes.h"

namespace cordon {
namespace {

constexpr size_t kNameBytes = 32;

// FNV-1a over operation and path.
uint64_t key_of(DeniedOperation operation, const char* path) {
  uint64_t hash = 0xcbf29ce484222325ull ^ static_cast<uint64_t>(operation);
  for (; *path != '\0'; ++path)
    hash = (hash ^ static_cast<unsigned char>(*path)) * 0x100000001b3ull;
  return hash;
}

}  // namespace

void Denials::start(int control) {
  control_ = control;
  void* memory =
      mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  // Without it a worker's report may be told again, or lost to the count.
  if (memory != MAP_FAILED) told_ = static_cast<Told*>(memory);
}

void Denials::report(DeniedOperation operation, DenialSource source, int error, pid_t thread,
                     const char* path) {
  if (control_ < 0) return;
  if (path[0] == '\0') return lose();
  uint64_t key = key_of(operation, path);
  size_t count = told_->count;
  for (size_t i = 0; i < count && i < kMost; ++i) {
    if (told_->keys[i] == key) return;
  }
  if (count >= kMost) return lose();
  char command[kNameBytes];
  read_name(thread, command, sizeof command);
  if (!send_denial(control_, {operation, source, error, thread, command, path})) {
    lose();
    return;
  }
  size_t place = told_->count++;
  if (place < kMost) told_->keys[place] = key;
}

}  // namespace cordon
