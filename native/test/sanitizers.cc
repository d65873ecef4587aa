// What the sanitizers do when they find something, for the tests and the programs they start. A
// supervisor's exit codes 0 and 1 mean that its tree has ended, so a report must not end with 1: it
// aborts. Leaks are not looked for, because the sources own no heap memory and the search needs
// ptrace, which confinement takes away.

extern "C" {
const char* __asan_default_options();
const char* __ubsan_default_options();

const char* __asan_default_options() {
  return "abort_on_error=1:detect_leaks=0:detect_stack_use_after_return=1:strict_string_checks=1";
}

const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }
}
