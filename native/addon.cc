// The addon: registers its exports and nothing else. Its state is the thread's, so it may be loaded
// any number of times.

#include <napi.h>

#include "binding/exports.h"

namespace {

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  const struct {
    const char* name;
    Napi::Value (*function)(const Napi::CallbackInfo&);
  } table[] = {
      {"startServer", cordon::start_server},
      {"close", cordon::close_descriptor},
      {"takeTemp", cordon::take_temp},
      {"returnTemp", cordon::return_temp},
      {"launch", cordon::launch},
      {"planDescriptor", cordon::plan_descriptor},
      {"glance", cordon::glance},
      {"openObject", cordon::open_object},
      {"lock", cordon::lock},
      {"peer", cordon::peer},
      {"ownMarks", cordon::own_marks},
      {"receiveDescriptors", cordon::receive_descriptors},
      {"sendDescriptors", cordon::send_descriptors},
      {"notify", cordon::notify},
      {"channel", cordon::channel},
      {"duplicate", cordon::duplicate},
      {"describe", cordon::describe},
      {"attributes", cordon::attributes},
      {"survey", cordon::survey},
      {"look", cordon::look},
      {"isAsRemembered", cordon::is_as_remembered},
      {"witness", cordon::witness},
      {"dismiss", cordon::dismiss},
      {"identify", cordon::identify},
      {"interest", cordon::interest},
      {"sweep", cordon::sweep},
      {"contentBefore", cordon::content_before},
      {"readBeneath", cordon::read_beneath},
      {"setAside", cordon::set_aside},
      {"replaceFile", cordon::replace_file},
      {"putBack", cordon::put_back},
      {"kernel", cordon::kernel},
  };
  cordon::make_thread_state(env);
  for (const auto& entry : table)
    exports.Set(entry.name, Napi::Function::New(env, entry.function, entry.name));
  return exports;
}

}  // namespace

NODE_API_MODULE(NODE_GYP_MODULE_NAME, initialise)
