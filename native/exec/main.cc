// cordon-exec: the executable that runs stand on. It decides nothing; what it does is in the plan
// or in its arguments.

#include <unistd.h>

#include <cstring>

#include "core/failure.h"
#include "core/text.h"
#include "linux/guard.h"
#include "linux/probe.h"

namespace {

constexpr int kUsage = 125;
constexpr int kServeSocket = 3;

int usage() {
  constexpr char text[] =
      "usage: cordon-exec serve confined|any JOURNAL|-\n"
      "       cordon-exec run PLAN-FD CONTROL-FD|- [TEMP-PARENT TEMP-NAME]\n"
      "       cordon-exec probe DIRECTORY PID ABSTRACT-NAME INSIDE|- ADDRESS IPC SHM PLACE...\n"
      "       cordon-exec accomplice\n"
      "It is started by cordon; there is nothing to gain from starting it by hand.\n";
  static_cast<void>(write(STDERR_FILENO, text, sizeof text - 1) != 0);
  return kUsage;
}

const char* optional(const char* argument) {
  return strcmp(argument, "-") == 0 ? nullptr : argument;
}

constexpr uint64_t kHighestDescriptor = 1 << 20;

// A descriptor number, or -1 when the text is none.
int descriptor(const char* text) {
  uint64_t value = 0;
  return cordon::whole_number(text, kHighestDescriptor, &value) ? static_cast<int>(value) : -1;
}

int run(int count, char** words) {
  if (count != 2 && count != 4) return usage();
  int plan = descriptor(words[0]);
  int control = optional(words[1]) == nullptr ? -1 : descriptor(words[1]);
  if (plan < 0 || (control < 0 && optional(words[1]) != nullptr)) return usage();
  return cordon::run_once(
      {plan, control, count == 4 ? words[2] : nullptr, count == 4 ? words[3] : nullptr});
}

// Behind the verb and seven words.
constexpr int kProbePlaces = 9;

int probe(int count, char** words) {
  uint64_t pid = 0;
  uint64_t address = 0;
  uint64_t ipc = 0;
  uint64_t memory = 0;
  if (!cordon::whole_number(words[3], INT32_MAX, &pid) ||
      !cordon::whole_number(words[6], UINT64_MAX, &address) ||
      !cordon::whole_number(words[7], UINT64_MAX, &ipc) ||
      !cordon::whole_number(words[8], UINT64_MAX, &memory))
    return usage();
  cordon::ProbeSurroundings at{
      words[2], static_cast<int>(pid), words[4], optional(words[5]), address, ipc, memory};
  return cordon::probe(at, words + kProbePlaces, count - kProbePlaces);
}

}  // namespace

int main(int argc, char** argv) {
#ifdef CORDON_FAULT_INJECTION
  // cordon-exec fail-at STAGE-NUMBER …: what follows runs with that stage failing.
  uint64_t stage = 0;
  if (argc > 3 && strcmp(argv[1], "fail-at") == 0 && cordon::whole_number(argv[2], 1000, &stage)) {
    cordon::g_injected_stage = static_cast<uint32_t>(stage);
    argc -= 2;
    argv += 2;
  }
#endif
  if (argc < 2) return usage();
  const char* verb = argv[1];
  if (strcmp(verb, "serve") == 0 && argc == 4) {
    bool confined = strcmp(argv[2], "confined") == 0;
    if (!confined && strcmp(argv[2], "any") != 0) return usage();
    return cordon::serve({kServeSocket, optional(argv[3]), confined});
  }
  if (strcmp(verb, "run") == 0) return run(argc - 2, argv + 2);
  if (strcmp(verb, "probe") == 0 && argc >= kProbePlaces) return probe(argc, argv);
  if (strcmp(verb, "accomplice") == 0 && argc == 2) return cordon::accomplice();
  return usage();
}
