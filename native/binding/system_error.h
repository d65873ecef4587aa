// Failed system calls as JavaScript errors of Node's own shape: code, errno, syscall, path.
#pragma once

#include <napi.h>

namespace cordon {

// Makes the error pending and returns undefined; `error` is an errno value.
Napi::Value throw_system_error(Napi::Env env, int error, const char* syscall,
                               const char* path = nullptr);

// Makes a TypeError pending that says what was expected.
Napi::Value throw_type_error(Napi::Env env, const char* expected);

}  // namespace cordon
