#include "linux/privilege.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cordon {
namespace {

constexpr int kHighestCapability = 63;

constexpr unsigned long kLockedSecurebits =
    SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
    SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

struct CapabilitySets {
  uint64_t effective;
  uint64_t permitted;
  uint64_t inheritable;
};

bool read_capabilities(CapabilitySets* sets) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words[2] = {};
  if (syscall(SYS_capget, &header, words) != 0) return false;
  sets->effective = words[0].effective | static_cast<uint64_t>(words[1].effective) << 32;
  sets->permitted = words[0].permitted | static_cast<uint64_t>(words[1].permitted) << 32;
  sets->inheritable = words[0].inheritable | static_cast<uint64_t>(words[1].inheritable) << 32;
  return true;
}

bool write_capabilities(const CapabilitySets& sets) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words[2] = {};
  words[0] = {static_cast<uint32_t>(sets.effective), static_cast<uint32_t>(sets.permitted),
              static_cast<uint32_t>(sets.inheritable)};
  words[1] = {static_cast<uint32_t>(sets.effective >> 32),
              static_cast<uint32_t>(sets.permitted >> 32),
              static_cast<uint32_t>(sets.inheritable >> 32)};
  return syscall(SYS_capset, &header, words) == 0;
}

bool has(uint64_t set, int capability) { return ((set >> capability) & 1) != 0; }

bool set_no_new_privs(Failure* failure) {
  if (injected(Stage::kNoNewPrivs) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return failure->at(Stage::kNoNewPrivs, errno);
  }
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return failure->at(Stage::kNoNewPrivs, EPERM);
  return true;
}

// `*known` is false past the last capability of the kernel.
bool drop_from_bounding(int capability, bool* known, Failure* failure) {
  int error = prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 ? errno : 0;
  int held = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
  *known = held >= 0;
  if (!*known || (held == 0 && error == 0)) return true;
  return failure->at(Stage::kCapabilities, error != 0 ? error : EPERM, "bounding set",
                     static_cast<uint32_t>(capability));
}

bool drop_bounding(uint64_t keep, Failure* failure) {
  for (int capability = 0; capability <= kHighestCapability; ++capability) {
    if (!has(kKeepable & ~keep, capability)) continue;
    bool known = true;
    if (!drop_from_bounding(capability, &known, failure)) return false;
  }
  return true;
}

// With `keep` empty only the locks are set: nothing may be raised again.
bool lock_securebits(Failure* failure) {
  if (injected(Stage::kSecurebits) || prctl(PR_SET_SECUREBITS, kLockedSecurebits, 0, 0, 0) != 0) {
    return failure->at(Stage::kSecurebits, errno);
  }
  if (prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) != static_cast<int>(kLockedSecurebits)) {
    return failure->at(Stage::kSecurebits, EPERM);
  }
  return true;
}

// Root's programs gain nothing at exec once NOROOT is locked, so what is kept must be ambient to
// survive it.
bool raise_ambient(uint64_t keep, Failure* failure) {
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
    return failure->at(Stage::kCapabilities, errno, "ambient set");
  }
  for (int capability = 0; capability <= kHighestCapability; ++capability) {
    if (!has(keep, capability)) continue;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) {
      return failure->at(Stage::kCapabilities, errno, "ambient set",
                         static_cast<uint32_t>(capability));
    }
  }
  return true;
}

}  // namespace

bool narrow_bounding_set(Failure* failure) {
  CapabilitySets sets;
  if (!read_capabilities(&sets)) return failure->at(Stage::kCapabilities, errno);
  if (!has(sets.effective, CAP_SETPCAP)) return true;
  bool known = true;
  for (int capability = 0; capability <= kHighestCapability && known; ++capability) {
    if (has(kKeepable, capability)) continue;
    if (!drop_from_bounding(capability, &known, failure)) return false;
  }
  return true;
}

bool drop_privileges(uint64_t keep, uint64_t* effective, Failure* failure) {
  if (!set_no_new_privs(failure)) return false;
  CapabilitySets sets;
  if (injected(Stage::kCapabilities) || !read_capabilities(&sets)) {
    return failure->at(Stage::kCapabilities, errno);
  }
  *effective = 0;
  if (sets.permitted == 0 && sets.effective == 0 && sets.inheritable == 0) return true;

  keep &= kKeepable & sets.permitted;
  if (has(sets.effective, CAP_SETPCAP)) {
    CapabilitySets raised = sets;
    raised.inheritable = keep;
    if (!write_capabilities(raised)) {
      return failure->at(Stage::kCapabilities, errno, "inheritable set");
    }
    if (!raise_ambient(keep, failure) || !drop_bounding(keep, failure) ||
        !lock_securebits(failure)) {
      return false;
    }
  } else {
    // Without CAP_SETPCAP nothing can be made to survive exec, and with no_new_privs nothing can be
    // gained there.
    keep = 0;
    if (!raise_ambient(0, failure)) return false;
  }
  if (!write_capabilities({keep, keep, keep})) return failure->at(Stage::kCapabilities, errno);
  CapabilitySets left;
  if (!read_capabilities(&left)) return failure->at(Stage::kCapabilities, errno);
  if (left.permitted != keep || left.effective != keep || left.inheritable != keep) {
    return failure->at(Stage::kCapabilities, EPERM, "read back");
  }
  *effective = keep;
  return true;
}

}  // namespace cordon
