// Reading arguments: each returns false when the value is of another type, and never runs
// JavaScript.
#pragma once

#include <napi.h>

#include <cmath>
#include <string>

namespace cordon {

inline bool read_descriptor(const Napi::Value& value, int* fd) {
  if (!value.IsNumber()) return false;
  double number = value.As<Napi::Number>().DoubleValue();
  if (!(number >= 0 && number <= 0x7fffffff) || number != std::floor(number)) return false;
  *fd = static_cast<int>(number);
  return true;
}

// Text for the kernel: a NUL would cut it silently.
inline bool read_text(const Napi::Value& value, std::string* text) {
  if (!value.IsString()) return false;
  *text = value.As<Napi::String>().Utf8Value();
  return text->find('\0') == std::string::npos;
}

inline bool read_bytes(const Napi::Value& value, const uint8_t** bytes, size_t* size) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    return false;
  }
  auto array = value.As<Napi::Uint8Array>();
  *bytes = array.Data();
  *size = array.ByteLength();
  return true;
}

}  // namespace cordon
