{
  # The sources of each part stand here and nowhere else: native/CMakeLists.txt reads them from this
  # file.
  'variables': {
    'core_sources': [
      'native/core/plan_codec.cc',
    ],
    'linux_sources': [
      'native/linux/broker.cc',
      'native/linux/caller.cc',
      'native/linux/caller_memory.cc',
      'native/linux/child.cc',
      'native/linux/connector.cc',
      'native/linux/control.cc',
      'native/linux/decode.cc',
      'native/linux/denials.cc',
      'native/linux/guard.cc',
      'native/linux/journal.cc',
      'native/linux/landlock.cc',
      'native/linux/mounts.cc',
      'native/linux/namespaces.cc',
      'native/linux/privilege.cc',
      'native/linux/own_calls.cc',
      'native/linux/probe.cc',
      'native/linux/processes.cc',
      'native/linux/opener.cc',
      'native/linux/request.cc',
      'native/linux/resolve.cc',
      'native/linux/seccomp_filter.cc',
      'native/linux/supervisor.cc',
      'native/linux/temp.cc',
      'native/linux/view.cc',
      'native/linux/workers.cc',
    ],
    'hardening_flags': [ '<!@(node scripts/toolchain.mjs hardening-flags)' ],
  },
  'target_defaults': {
    'include_dirs': [ 'native' ],
    'cflags': [ '-Wall', '-Wextra', '-ffunction-sections', '-fdata-sections', '<@(hardening_flags)' ],
    'cflags!': [ '-O3' ],
    'cflags_cc': [ '-std=c++20', '-fno-exceptions', '-fno-rtti' ],
    'cflags_cc!': [ '-std=gnu++17', '-std=gnu++20' ],
    'configurations': {
      'Release': {
        'cflags': [ '-O2' ],
        'cflags!': [ '-O3' ],
        'defines': [ 'NDEBUG' ],
      },
    },
    'ldflags': [ '-Wl,--gc-sections' ],
  },
  'targets': [
    {
      'target_name': 'cordon',
      'sources': [
        'native/addon.cc',
        'native/binding/descriptors.cc',
        'native/binding/glance.cc',
        'native/binding/kernel.cc',
        'native/binding/launch.cc',
        'native/binding/server.cc',
        'native/binding/survey.cc',
        'native/binding/system_error.cc',
        'native/binding/temps.cc',
        'native/linux/landlock.cc',
        'native/linux/survey.cc',
        '<@(core_sources)',
      ],
      'include_dirs': [ '<!(node -p "require(\'node-addon-api\').include_dir")' ],
      'defines': [ 'NAPI_VERSION=8', 'NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS' ],
      'ldflags': [ '-Wl,-z,relro,-z,now' ],
    },
    {
      # What cordon-exec needs of a C library, in place of one: see native/exec/freestanding/start.cc. The compiler may not
      # turn these functions into calls of themselves.
      'target_name': 'freestanding',
      'type': 'static_library',
      'sources': [
        'native/exec/freestanding/memory.cc',
        'native/exec/freestanding/start.cc',
        'native/exec/freestanding/syscalls.cc',
      ],
      'cflags': [ '-fPIE', '-U_FORTIFY_SOURCE', '-fno-stack-protector', '<!@(node scripts/toolchain.mjs freestanding-flags)' ],
      'cflags!': [ '-fPIC' ],
    },
    {
      'target_name': 'cordon-exec',
      'type': 'executable',
      'dependencies': [ 'freestanding' ],
      'sources': [
        'native/exec/main.cc',
        '<@(core_sources)',
        '<@(linux_sources)',
      ],
      # Fortified calls are the C library's own.
      'cflags': [ '-fPIE', '-U_FORTIFY_SOURCE', '-fno-threadsafe-statics' ],
      'cflags!': [ '-fPIC' ],
      'ldflags': [ '-static-pie', '-nostdlib', '-nostartfiles', '-Wl,-z,relro,-z,now,-z,noexecstack,-z,noseparate-code' ],
      'ldflags!': [ '-rdynamic' ],
    },
  ],
}
