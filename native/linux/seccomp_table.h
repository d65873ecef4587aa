// What the filter of a run does with each system call that it does not simply allow. One row a
// fact; the assembler and the tests' interpreter read the same rows. Numbers are literal because
// the building machine's headers may be older than the running kernel. Sources: syscall_64.tbl and
// scripts/syscall.tbl of Linux 7.2.
#pragma once

#include <cerrno>
#include <cstdint>

namespace cordon {

inline constexpr int kNoSuchCall = -1;

// Features of a filter, chosen in the plan.
enum FilterFeature : uint32_t {
  kFilterDoors = 1u << 0,           // what no run needs and other guarantees rest on
  kFilterTerminals = 1u << 1,       // TIOCSTI, TIOCLINUX
  kFilterSetId = 1u << 2,           // set-id bits at creation
  kFilterBrokerMetadata = 1u << 3,  // metadata goes to the broker
  kFilterRefuseMetadata = 1u << 4,  // metadata is refused everywhere
  kFilterBrokerSockets =
      1u << 5,  // connect goes to the broker, UNIX sockets are stream or seqpacket
  kFilterNoUnixSockets = 1u << 6,   // there are no UNIX sockets but pairs
  kFilterNoSharedIpc = 1u << 7,     // message queues, System V objects
  kFilterBrokerTruncate = 1u << 8,  // Landlock below ABI 3
  kFilterNoOpenat2 = 1u << 9,       // its flags and mode lie in memory
  kFilterObserve = 1u << 10,        // what would write is reported, and then left to the kernel
  kFilterMountedMetadata =
      1u << 11,  // read-only mounts keep what is outside; what goes to the broker is set-id bits
};
inline constexpr uint32_t kFilterFeatures = (kFilterMountedMetadata << 1) - 1;

enum class Judgement : uint8_t {
  kRefuse,   // errno
  kPretend,  // success without doing it
  kBroker,   // the supervisor answers
  kObserve,  // the supervisor looks, the kernel answers
};

// A test of arguments; a row without one always applies. Every argument tested here is an int to
// the kernel.
enum class Test : uint8_t {
  kAlways,
  kEquals,         // low half of `argument` equals `value`
  kAnyBit,         // low half of `argument` has a bit of `value`
  kPairEquals,     // `argument` equals `value`, and the one after it equals `second`
  kEqualsAndSet,   // `argument` equals `value`, and the whole of the one after it is not zero
  kOtherAndSet,    // `argument` is not zero, and the whole of the second one after it is not either
  kCreatesSetId,   // flags in `argument` create, and the mode after it has a set-id bit
  kTruncates,      // flags in `argument` have O_TRUNC
  kOddUnixSocket,  // a UNIX domain in `argument`, and a type after it that can send by name
  kMetadataIoctl,  // a file system's own request that changes something
};

struct FilterRow {
  char name[20];  // within the row: a pointer would have to be relocated at every start
  int x86_64;
  int arm64;
  uint32_t features;  // the row is there when the plan has one of these
  Judgement judgement;
  int error;
  Test test = Test::kAlways;
  uint8_t argument = 0;
  uint32_t value = 0;
  uint32_t second = 0;
};

// CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
inline constexpr uint32_t kNamespaceFlags = 0x7e020080;

inline constexpr uint32_t kSetIdBits = 06000;
inline constexpr uint32_t kOpenCreat = 0100;
inline constexpr uint32_t kOpenTrunc = 01000;
inline constexpr uint32_t kOpenTmpfile = 020000000;

// O_WRONLY, O_RDWR and whatever makes or empties a file.
inline constexpr uint32_t kOpensToChange = 3 | kOpenCreat | kOpenTrunc | kOpenTmpfile;

inline constexpr uint32_t kFamilyUnix = 1;
inline constexpr uint32_t kFamilyVsock = 40;
inline constexpr uint32_t kSocketTypeMask = 0xf;
inline constexpr uint32_t kSocketStream = 1;
inline constexpr uint32_t kSocketSeqpacket = 5;

inline constexpr uint32_t kTiocsti = 0x5412;
inline constexpr uint32_t kTioclinux = 0x541c;

// The second byte of an ioctl request names its driver: these are file systems'. `f` ext4 and
// generic, `v` versions, `X` XFS and generic attributes, 0x94 btrfs and generic labels, 0xf5 f2fs,
// 0xbc bcachefs, 0xcf CIFS.
inline constexpr uint32_t kFilesystemIoctls[] = {'f', 'v', 'X', 0x94, 0xf5, 0xbc, 0xcf};

// Of those, what only reads, or clones into an open file; 64- and 32-bit forms.
inline constexpr uint32_t kHarmlessIoctls[] = {
    0x80086601, 0x80046601,  // FS_IOC_GETFLAGS
    0x80087601, 0x80047601,  // FS_IOC_GETVERSION
    0xc020660b,              // FS_IOC_FIEMAP
    0x801c581f,              // FS_IOC_FSGETXATTR
    0x81009431,              // FS_IOC_GETFSLABEL
    0x40049409, 0x4020940d,  // FICLONE, FICLONERANGE
    0xc0189436,              // FIDEDUPERANGE
};

// Attributes of a file, for the broker: FS_IOC_SETFLAGS in both forms, FS_IOC_FSSETXATTR.
inline constexpr uint32_t kIoctlSetFlags = 0x40086602;
inline constexpr uint32_t kIoctlSetFlags32 = 0x40046602;
inline constexpr uint32_t kIoctlSetXattr = 0x401c5820;
// FAT_IOCTL_SET_ATTRIBUTES, of a type byte that others share.
inline constexpr uint32_t kIoctlVfatSetAttributes = 0x40047211;

inline constexpr uint32_t kResourceCore = 4;
inline constexpr uint32_t kPrSetDumpable = 4;
inline constexpr uint32_t kSetLease = 1024;
inline constexpr uint32_t kSetDelegation = 1039;
inline constexpr uint32_t kRenameWhiteout = 4;

inline constexpr uint32_t kMetadata =
    kFilterBrokerMetadata | kFilterRefuseMetadata | kFilterMountedMetadata;
inline constexpr uint32_t kAsksForFlags = kFilterBrokerMetadata | kFilterMountedMetadata;
inline constexpr uint32_t kSocketsAny = kFilterBrokerSockets | kFilterNoUnixSockets;

// First match of a call wins, so a refusal that holds whatever the broker says stands before the
// broker's row.
inline constexpr FilterRow kFilterRows[] = {
    // seccomp does not see what a ring does: with one, every other row could be gone round.
    {"io_uring_setup", 425, 425, kFilterDoors, Judgement::kRefuse, ENOSYS},
    {"io_uring_enter", 426, 426, kFilterDoors, Judgement::kRefuse, ENOSYS},
    {"io_uring_register", 427, 427, kFilterDoors, Judgement::kRefuse, ENOSYS},
    {"open_by_handle_at", 304, 265, kFilterDoors, Judgement::kRefuse, EPERM},

    {"mount", 165, 40, kFilterDoors, Judgement::kRefuse, EPERM},
    {"umount2", 166, 39, kFilterDoors, Judgement::kRefuse, EPERM},
    {"pivot_root", 155, 41, kFilterDoors, Judgement::kRefuse, EPERM},
    {"chroot", 161, 51, kFilterDoors, Judgement::kRefuse, EPERM},
    {"fsopen", 430, 430, kFilterDoors, Judgement::kRefuse, EPERM},
    {"fsconfig", 431, 431, kFilterDoors, Judgement::kRefuse, EPERM},
    {"fsmount", 432, 432, kFilterDoors, Judgement::kRefuse, EPERM},
    {"fspick", 433, 433, kFilterDoors, Judgement::kRefuse, EPERM},
    {"move_mount", 429, 429, kFilterDoors, Judgement::kRefuse, EPERM},
    {"open_tree", 428, 428, kFilterDoors, Judgement::kRefuse, EPERM},
    {"open_tree_attr", 467, 467, kFilterDoors, Judgement::kRefuse, EPERM},
    {"mount_setattr", 442, 442, kFilterDoors, Judgement::kRefuse, EPERM},

    {"unshare", 272, 97, kFilterDoors, Judgement::kRefuse, EPERM, Test::kAnyBit, 0,
     kNamespaceFlags},
    {"setns", 308, 268, kFilterDoors, Judgement::kRefuse, EPERM},
    {"clone", 56, 220, kFilterDoors, Judgement::kRefuse, EPERM, Test::kAnyBit, 0, kNamespaceFlags},
    // Its flags lie in memory; the C libraries then use clone.
    {"clone3", 435, 435, kFilterDoors, Judgement::kRefuse, ENOSYS},

    {"bpf", 321, 280, kFilterDoors, Judgement::kRefuse, EPERM},
    {"perf_event_open", 298, 241, kFilterDoors, Judgement::kRefuse, EACCES},
    {"userfaultfd", 323, 282, kFilterDoors, Judgement::kRefuse, EPERM},
    {"add_key", 248, 217, kFilterDoors, Judgement::kRefuse, ENOSYS},
    {"request_key", 249, 218, kFilterDoors, Judgement::kRefuse, ENOSYS},
    {"keyctl", 250, 219, kFilterDoors, Judgement::kRefuse, ENOSYS},
    {"kexec_load", 246, 104, kFilterDoors, Judgement::kRefuse, EPERM},
    {"kexec_file_load", 320, 294, kFilterDoors, Judgement::kRefuse, EPERM},
    {"init_module", 175, 105, kFilterDoors, Judgement::kRefuse, EPERM},
    {"finit_module", 313, 273, kFilterDoors, Judgement::kRefuse, EPERM},
    {"delete_module", 176, 106, kFilterDoors, Judgement::kRefuse, EPERM},
    {"reboot", 169, 142, kFilterDoors, Judgement::kRefuse, EPERM},
    {"swapon", 167, 224, kFilterDoors, Judgement::kRefuse, EPERM},
    {"swapoff", 168, 225, kFilterDoors, Judgement::kRefuse, EPERM},
    {"acct", 163, 89, kFilterDoors, Judgement::kRefuse, EPERM},
    {"quotactl", 179, 60, kFilterDoors, Judgement::kRefuse, EPERM},
    {"quotactl_fd", 443, 443, kFilterDoors, Judgement::kRefuse, EPERM},
    {"settimeofday", 164, 170, kFilterDoors, Judgement::kRefuse, EPERM},
    {"clock_settime", 227, 112, kFilterDoors, Judgement::kRefuse, EPERM},
    {"syslog", 103, 116, kFilterDoors, Judgement::kRefuse, EPERM},
    {"iopl", 172, kNoSuchCall, kFilterDoors, Judgement::kRefuse, EPERM},
    {"ioperm", 173, kNoSuchCall, kFilterDoors, Judgement::kRefuse, EPERM},
    {"sethostname", 170, 161, kFilterDoors, Judgement::kRefuse, EPERM},
    {"setdomainname", 171, 162, kFilterDoors, Judgement::kRefuse, EPERM},
    {"fanotify_init", 300, 262, kFilterDoors, Judgement::kRefuse, EPERM},
    {"lsm_set_self_attr", 460, 460, kFilterDoors, Judgement::kRefuse, EPERM},
    {"vhangup", 153, 58, kFilterDoors, Judgement::kRefuse, EPERM},
    // On a virtual machine it reaches services of the host, on WSL a shell of the user's.
    {"socket", 41, 198, kFilterDoors, Judgement::kRefuse, EAFNOSUPPORT, Test::kEquals, 0,
     kFamilyVsock},

    // A limit of 0 starts a piped core handler outside, as root; 1 does not, and stays. Who asks
    // for 0 means "no core".
    {"setrlimit", 160, 164, kFilterDoors, Judgement::kPretend, 0, Test::kEquals, 0, kResourceCore},
    {"prlimit64", 302, 261, kFilterDoors, Judgement::kPretend, 0, Test::kEqualsAndSet, 1,
     kResourceCore},
    // Of another process: a limit of one second of processor time is a kill, and Landlock has no
    // word on it.
    {"prlimit64", 302, 261, kFilterDoors, Judgement::kRefuse, EPERM, Test::kOtherAndSet, 0},
    // A lease makes whoever opens the file outside wait for the run.
    {"fcntl", 72, 25, kFilterDoors, Judgement::kRefuse, EACCES, Test::kEquals, 1, kSetLease},
    {"fcntl", 72, 25, kFilterDoors, Judgement::kRefuse, EACCES, Test::kEquals, 1, kSetDelegation},
    // It leaves a character device behind.
    {"renameat2", 316, 276, kFilterDoors, Judgement::kRefuse, EPERM, Test::kAnyBit, 4,
     kRenameWhiteout},
    // The supervisor cannot read a process that is not dumpable; agents hide from their debugger,
    // not from it.
    {"prctl", 157, 167, kMetadata | kSocketsAny, Judgement::kPretend, 0, Test::kPairEquals, 0,
     kPrSetDumpable, 0},

    {"ioctl", 16, 29, kFilterTerminals, Judgement::kRefuse, EPERM, Test::kEquals, 1, kTiocsti},
    {"ioctl", 16, 29, kFilterTerminals, Judgement::kRefuse, EPERM, Test::kEquals, 1, kTioclinux},

    {"open", 2, kNoSuchCall, kFilterSetId, Judgement::kRefuse, EPERM, Test::kCreatesSetId, 1},
    {"openat", 257, 56, kFilterSetId, Judgement::kRefuse, EPERM, Test::kCreatesSetId, 2},
    {"creat", 85, kNoSuchCall, kFilterSetId, Judgement::kRefuse, EPERM, Test::kAnyBit, 1,
     kSetIdBits},
    {"mknod", 133, kNoSuchCall, kFilterSetId, Judgement::kRefuse, EPERM, Test::kAnyBit, 1,
     kSetIdBits},
    {"mknodat", 259, 33, kFilterSetId, Judgement::kRefuse, EPERM, Test::kAnyBit, 2, kSetIdBits},
    {"openat2", 437, 437, kFilterNoOpenat2, Judgement::kRefuse, ENOSYS},

    {"truncate", 76, 45, kFilterBrokerTruncate, Judgement::kBroker, 0},
    {"open", 2, kNoSuchCall, kFilterBrokerTruncate, Judgement::kBroker, 0, Test::kTruncates, 1},
    {"openat", 257, 56, kFilterBrokerTruncate, Judgement::kBroker, 0, Test::kTruncates, 2},
    {"creat", 85, kNoSuchCall, kFilterBrokerTruncate, Judgement::kBroker, 0},

    {"chmod", 90, kNoSuchCall, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"fchmod", 91, 52, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"fchmodat", 268, 53, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"fchmodat2", 452, 452, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"chown", 92, kNoSuchCall, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"fchown", 93, 55, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"lchown", 94, kNoSuchCall, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"fchownat", 260, 54, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"utime", 132, kNoSuchCall, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"utimes", 235, kNoSuchCall, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"futimesat", 261, kNoSuchCall, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"utimensat", 280, 88, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"setxattr", 188, 5, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"lsetxattr", 189, 6, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"fsetxattr", 190, 7, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"setxattrat", 463, 463, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"removexattr", 197, 14, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"lremovexattr", 198, 15, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"fremovexattr", 199, 16, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"removexattrat", 466, 466, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},
    {"file_setattr", 469, 469, kFilterRefuseMetadata, Judgement::kRefuse, EACCES},

    {"chmod", 90, kNoSuchCall, kFilterMountedMetadata, Judgement::kBroker, 0, Test::kAnyBit, 1,
     kSetIdBits},
    {"fchmod", 91, 52, kFilterMountedMetadata, Judgement::kBroker, 0, Test::kAnyBit, 1, kSetIdBits},
    {"fchmodat", 268, 53, kFilterMountedMetadata, Judgement::kBroker, 0, Test::kAnyBit, 2,
     kSetIdBits},
    {"fchmodat2", 452, 452, kFilterMountedMetadata, Judgement::kBroker, 0, Test::kAnyBit, 2,
     kSetIdBits},

    {"chmod", 90, kNoSuchCall, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"fchmod", 91, 52, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"fchmodat", 268, 53, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"fchmodat2", 452, 452, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"chown", 92, kNoSuchCall, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"fchown", 93, 55, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"lchown", 94, kNoSuchCall, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"fchownat", 260, 54, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"utime", 132, kNoSuchCall, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"utimes", 235, kNoSuchCall, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"futimesat", 261, kNoSuchCall, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"utimensat", 280, 88, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"setxattr", 188, 5, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"lsetxattr", 189, 6, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"fsetxattr", 190, 7, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"setxattrat", 463, 463, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"removexattr", 197, 14, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"lremovexattr", 198, 15, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"fremovexattr", 199, 16, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"removexattrat", 466, 466, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"file_setattr", 469, 469, kFilterBrokerMetadata, Judgement::kBroker, 0},
    {"ioctl", 16, 29, kAsksForFlags, Judgement::kBroker, 0, Test::kEquals, 1, kIoctlSetFlags},
    {"ioctl", 16, 29, kAsksForFlags, Judgement::kBroker, 0, Test::kEquals, 1, kIoctlSetFlags32},
    {"ioctl", 16, 29, kAsksForFlags, Judgement::kBroker, 0, Test::kEquals, 1, kIoctlSetXattr},
    {"ioctl", 16, 29, kMetadata, Judgement::kRefuse, ENOTTY, Test::kEquals, 1,
     kIoctlVfatSetAttributes},
    // Landlock has no word on these: on btrfs an ordinary user destroyed a subvolume through a
    // read-only descriptor.
    {"ioctl", 16, 29, kMetadata, Judgement::kRefuse, ENOTTY, Test::kMetadataIoctl, 1},

    {"socket", 41, 198, kFilterNoUnixSockets, Judgement::kRefuse, EACCES, Test::kEquals, 0,
     kFamilyUnix},
    // A raw UNIX socket is a datagram socket, and the end of a datagram pair sends by name: only
    // these two types cannot.
    {"socket", 41, 198, kFilterBrokerSockets, Judgement::kRefuse, EACCES, Test::kOddUnixSocket, 0},
    {"socketpair", 53, 199, kSocketsAny, Judgement::kRefuse, EACCES, Test::kOddUnixSocket, 0},
    {"connect", 42, 203, kFilterBrokerSockets, Judgement::kBroker, 0},

    // The kernel makes the queue before Landlock refuses it, and a queue that was opened as a file
    // is emptied by reading.
    {"mq_open", 240, 180, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"mq_unlink", 241, 181, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"mq_timedsend", 242, 182, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"mq_timedreceive", 243, 183, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"mq_notify", 244, 184, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"mq_getsetattr", 245, 185, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    // Not only by key: an object's number is readable by all and enough to use it.
    {"shmget", 29, 194, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"shmat", 30, 196, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"shmctl", 31, 195, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"semget", 64, 190, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"semop", 65, 193, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"semtimedop", 220, 192, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"semctl", 66, 191, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"msgget", 68, 186, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"msgsnd", 69, 189, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"msgrcv", 70, 188, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},
    {"msgctl", 71, 187, kFilterNoSharedIpc, Judgement::kRefuse, ENOSYS},

    {"open", 2, kNoSuchCall, kFilterObserve, Judgement::kObserve, 0, Test::kAnyBit, 1,
     kOpensToChange},
    {"openat", 257, 56, kFilterObserve, Judgement::kObserve, 0, Test::kAnyBit, 2, kOpensToChange},
    {"creat", 85, kNoSuchCall, kFilterObserve, Judgement::kObserve, 0},
    {"mkdir", 83, kNoSuchCall, kFilterObserve, Judgement::kObserve, 0},
    {"mkdirat", 258, 34, kFilterObserve, Judgement::kObserve, 0},
    {"mknod", 133, kNoSuchCall, kFilterObserve, Judgement::kObserve, 0},
    {"mknodat", 259, 33, kFilterObserve, Judgement::kObserve, 0},
    {"symlink", 88, kNoSuchCall, kFilterObserve, Judgement::kObserve, 0},
    {"symlinkat", 266, 36, kFilterObserve, Judgement::kObserve, 0},
    {"rmdir", 84, kNoSuchCall, kFilterObserve, Judgement::kObserve, 0},
    {"unlink", 87, kNoSuchCall, kFilterObserve, Judgement::kObserve, 0},
    {"unlinkat", 263, 35, kFilterObserve, Judgement::kObserve, 0},
    {"rename", 82, kNoSuchCall, kFilterObserve, Judgement::kObserve, 0},
    {"renameat", 264, 38, kFilterObserve, Judgement::kObserve, 0},
    {"renameat2", 316, 276, kFilterObserve, Judgement::kObserve, 0},
    {"link", 86, kNoSuchCall, kFilterObserve, Judgement::kObserve, 0},
    {"linkat", 265, 37, kFilterObserve, Judgement::kObserve, 0},
    {"truncate", 76, 45, kFilterObserve, Judgement::kObserve, 0},
};

}  // namespace cordon
