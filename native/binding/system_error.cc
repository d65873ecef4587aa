#include "binding/system_error.h"

#include <cstring>
#include <string>

#include "core/errno_name.h"

namespace cordon {

Napi::Value throw_system_error(Napi::Env env, int error, const char* syscall, const char* path) {
  std::string code = errno_name(error);
  std::string message = code + ": " + strerror(error) + ", " + syscall;
  if (path != nullptr) message += std::string(" '") + path + "'";
  Napi::Error thrown = Napi::Error::New(env, message);
  thrown.Set("code", code);
  thrown.Set("errno", static_cast<double>(-error));
  thrown.Set("syscall", syscall);
  if (path != nullptr) thrown.Set("path", path);
  thrown.ThrowAsJavaScriptException();
  return env.Undefined();
}

Napi::Value throw_type_error(Napi::Env env, const char* expected) {
  Napi::TypeError::New(env, std::string("Expected ") + expected).ThrowAsJavaScriptException();
  return env.Undefined();
}

}  // namespace cordon
