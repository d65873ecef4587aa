// What JavaScript sees, one function a name of src/native/binding.ts.
#pragma once

#include <napi.h>

namespace cordon {

// Called once for each thread that loads the addon, before any function below.
void make_thread_state(Napi::Env env);

Napi::Value start_server(const Napi::CallbackInfo& info);
Napi::Value close_descriptor(const Napi::CallbackInfo& info);
Napi::Value take_temp(const Napi::CallbackInfo& info);
Napi::Value return_temp(const Napi::CallbackInfo& info);
Napi::Value launch(const Napi::CallbackInfo& info);
Napi::Value plan_descriptor(const Napi::CallbackInfo& info);
Napi::Value glance(const Napi::CallbackInfo& info);
Napi::Value open_object(const Napi::CallbackInfo& info);
Napi::Value peer(const Napi::CallbackInfo& info);
Napi::Value own_marks(const Napi::CallbackInfo& info);
Napi::Value receive_descriptors(const Napi::CallbackInfo& info);
Napi::Value send_descriptors(const Napi::CallbackInfo& info);
Napi::Value notify(const Napi::CallbackInfo& info);
Napi::Value lock(const Napi::CallbackInfo& info);
Napi::Value channel(const Napi::CallbackInfo& info);
Napi::Value duplicate(const Napi::CallbackInfo& info);
Napi::Value describe(const Napi::CallbackInfo& info);
Napi::Value attributes(const Napi::CallbackInfo& info);
Napi::Value survey(const Napi::CallbackInfo& info);
Napi::Value look(const Napi::CallbackInfo& info);
Napi::Value is_as_remembered(const Napi::CallbackInfo& info);
Napi::Value witness(const Napi::CallbackInfo& info);
Napi::Value dismiss(const Napi::CallbackInfo& info);
Napi::Value identify(const Napi::CallbackInfo& info);
Napi::Value interest(const Napi::CallbackInfo& info);
Napi::Value sweep(const Napi::CallbackInfo& info);
Napi::Value content_before(const Napi::CallbackInfo& info);
Napi::Value read_beneath(const Napi::CallbackInfo& info);
Napi::Value set_aside(const Napi::CallbackInfo& info);
Napi::Value replace_file(const Napi::CallbackInfo& info);
Napi::Value put_back(const Napi::CallbackInfo& info);
Napi::Value kernel(const Napi::CallbackInfo& info);

}  // namespace cordon
