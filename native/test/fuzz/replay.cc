// In place of libFuzzer where there is none: gives every file of the named directories to the
// target once, and then with each of its bytes changed in a few ways and cut off.
//
// usage: plan_replay DIRECTORY...

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

size_t g_inputs = 0;

// From memory of exactly this size, so that a read past the end is seen.
void give(const std::string& bytes) {
  std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
  memcpy(exact.get(), bytes.data(), bytes.size());
  LLVMFuzzerTestOneInput(exact.get(), bytes.size());
  ++g_inputs;
}

void give_neighbours(const std::string& seed) {
  for (size_t at = 0; at < seed.size(); ++at) {
    give(seed.substr(0, at));
    for (int change : {0x01, 0x80, 0xff}) {
      std::string changed = seed;
      changed[at] = static_cast<char>(changed[at] ^ change);
      give(changed);
    }
    give(seed.substr(0, at) + seed.substr(at + 1));
    give(seed.substr(0, at) + '\xff' + seed.substr(at));
  }
}

}  // namespace

int main(int argc, char** argv) {
  size_t seeds = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::string seed{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      give(seed);
      give_neighbours(seed);
      ++seeds;
    }
  }
  printf("%zu seeds, %zu inputs\n", seeds, g_inputs);
  return seeds > 0 ? 0 : 1;
}
