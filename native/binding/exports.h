// What JavaScript sees, one function a name of src/native/binding.ts.
#pragma once

#include <napi.h>

namespace cordon {

Napi::Value start_server(const Napi::CallbackInfo& info);
Napi::Value reap(const Napi::CallbackInfo& info);
Napi::Value launch(const Napi::CallbackInfo& info);
Napi::Value plan_descriptor(const Napi::CallbackInfo& info);
Napi::Value channel(const Napi::CallbackInfo& info);
Napi::Value describe(const Napi::CallbackInfo& info);
Napi::Value kernel(const Napi::CallbackInfo& info);

}  // namespace cordon
