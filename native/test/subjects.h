// Tests of the executable: each once with the sanitizers and this machine's C library, once as
// users get it, without either.
#pragma once

#include <string>

#include "test/harness.h"

namespace cordon::test {

void needs_release_build();

// What a killed guard leaves must come to the test's process, to be seen; and there is something to
// confine with.
void prepare_for_runs();

}  // namespace cordon::test

#define BOTH(name)                                 \
  static void name(const std::string& executable); \
  TEST(name##_sanitized) {                         \
    ::cordon::test::prepare_for_runs();            \
    name(CORDON_EXEC_PATH);                        \
  }                                                \
  TEST(name##_release) {                           \
    ::cordon::test::needs_release_build();         \
    ::cordon::test::prepare_for_runs();            \
    name(CORDON_RELEASE_EXEC_PATH);                \
  }                                                \
  static void name([[maybe_unused]] const std::string& executable)
