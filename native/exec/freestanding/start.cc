// The first instructions of cordon-exec, in place of a C library's start-up: that one asks the
// processor for its features, and under virtualisation each question costs a trap (measured: 0.28
// ms of a 0.41 ms start on a virtual machine, Linux 6.18). One executable then also serves every
// distribution, whatever its C library. This folder is compiled without a stack guard: it runs
// before there is one.

#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

int main(int argc, char** argv);

// Where the executable was loaded, and its own dynamic section: both given by the linker.
extern "C" [[gnu::visibility("hidden")]] const Elf64_Ehdr __ehdr_start;
extern "C" [[gnu::visibility("hidden")]] Elf64_Dyn _DYNAMIC[];

#if defined(__x86_64__)
asm(R"(
  .pushsection .text
  .globl _start
  .type _start, @function
_start:
  endbr64
  xorl %ebp, %ebp
  movq %rsp, %rdi
  andq $-16, %rsp
  call cordon_start
  hlt
  .popsection
)");
constexpr uint32_t kRelative = R_X86_64_RELATIVE;
#elif defined(__aarch64__)
asm(R"(
  .pushsection .text
  .globl _start
  .type _start, %function
_start:
  mov x29, #0
  mov x30, #0
  mov x0, sp
  and sp, x0, #-16
  bl cordon_start
  brk #0
  .popsection
)");
constexpr uint32_t kRelative = R_AARCH64_RELATIVE;
#else
#error "cordon-exec knows x86-64 and arm64"
#endif

namespace {

#if defined(__x86_64__)
// What %fs points at: the compiler reads the stack guard 0x28 bytes into it.
struct ThreadBlock {
  void* self;
  uintptr_t unused[4];
  uintptr_t stack_guard;
};
// In the page that every start touches anyway.
[[gnu::section(".data")]] ThreadBlock g_thread;
#endif

}  // namespace

#if defined(__aarch64__)
extern "C" {
uintptr_t __stack_chk_guard = 0;
}
#endif

extern "C" [[noreturn]] void __stack_chk_fail() {
  constexpr char text[] = "cordon-exec: its stack was overwritten; it ends here\n";
  static_cast<void>(write(STDERR_FILENO, text, sizeof text - 1) != 0);
  __builtin_trap();
}

// The executable is position-independent so that addresses differ from run to run; nobody else adds
// the load address.
static void relocate(uintptr_t base) {
  const Elf64_Rela* relocation = nullptr;
  size_t bytes = 0;
  for (const Elf64_Dyn* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_RELA)
      relocation = reinterpret_cast<const Elf64_Rela*>(base + entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELASZ) bytes = entry->d_un.d_val;
  }
  for (size_t i = 0; i < bytes / sizeof *relocation; ++i) {
    // Any other kind was linked by mistake, and a pointer would be left wrong.
    if (ELF64_R_TYPE(relocation[i].r_info) != kRelative) __builtin_trap();
    *reinterpret_cast<uintptr_t*>(base + relocation[i].r_offset) =
        base + static_cast<uintptr_t>(relocation[i].r_addend);
  }
}

// Tables of pointers are read-only from here on. A page that holds variables too stays writable: on
// arm64 it may be of 4, 16 or 64 KiB.
static void protect_relocated(uintptr_t base, uintptr_t page) {
  const auto* headers = reinterpret_cast<const Elf64_Phdr*>(base + __ehdr_start.e_phoff);
  for (size_t i = 0; i < __ehdr_start.e_phnum; ++i) {
    if (headers[i].p_type != PT_GNU_RELRO) continue;
    uintptr_t first = (base + headers[i].p_vaddr) & ~(page - 1);
    uintptr_t end = (base + headers[i].p_vaddr + headers[i].p_memsz) & ~(page - 1);
    if (end > first) mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ);
  }
}

struct FromKernel {
  uintptr_t random;  // the first of sixteen random bytes
  uintptr_t page;
};

// Found behind arguments and environment.
static FromKernel read_auxiliary(char** environment) {
  while (*environment != nullptr) ++environment;
  FromKernel found{0, 4096};
  for (auto* entry = reinterpret_cast<Elf64_auxv_t*>(environment + 1); entry->a_type != AT_NULL;
       ++entry) {
    if (entry->a_type == AT_RANDOM) found.random = *reinterpret_cast<uintptr_t*>(entry->a_un.a_val);
    if (entry->a_type == AT_PAGESZ) found.page = entry->a_un.a_val;
  }
  return found;
}

static void set_stack_guard(uintptr_t random) {
  // A zero byte stops a string from copying the guard.
  uintptr_t guard = random & ~static_cast<uintptr_t>(0xff);
#if defined(__x86_64__)
  constexpr long kSetFs = 0x1002;  // ARCH_SET_FS
  g_thread.self = &g_thread;
  g_thread.stack_guard = guard;
  syscall(SYS_arch_prctl, kSetFs, &g_thread);
#else
  __stack_chk_guard = guard;
#endif
}

extern "C" [[gnu::used]] void cordon_start(uintptr_t* stack) {
  auto base = reinterpret_cast<uintptr_t>(&__ehdr_start);
  int argc = static_cast<int>(stack[0]);
  char** argv = reinterpret_cast<char**>(stack + 1);
  relocate(base);
  FromKernel found = read_auxiliary(argv + argc + 1);
  set_stack_guard(found.random);
  protect_relocated(base, found.page);
  _exit(main(argc, argv));
}
