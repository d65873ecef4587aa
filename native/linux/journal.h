// What a crash may leave running, written down while it runs. One file per guard, locked while the
// guard or one of its supervisors lives: a header that says in which boot and which process
// namespace its numbers mean something, then one slot per run. The next guard kills what a dead
// guard's file names: its runs had neither supervisor nor guard left.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/record.h"
#include "core/unique_fd.h"

namespace cordon {

struct JournalSlot {
  int32_t pid;             // the command; 0 when the slot is free
  int32_t leads_session;   // its session holds its descendants too
  uint64_t started_after;  // boot time in ns, read before and after the clone
  uint64_t started_before;
  char temp[kTempNameBytes];  // name of the private temp directory, empty without one
};

// Notes the last part of the temp directory's path.
void note_temp(JournalSlot* slot, const char* path);

// Opens the directory of journals. Invalid when somebody else could have written one: a journal
// says what to kill.
UniqueFd open_journal_directory(const char* path);

// Opens this guard's file beneath `directory`. Invalid when the directory cannot be used: then a
// crash of both guard and supervisor leaves nothing to clean by.
UniqueFd open_journal(int directory);

// Called by the command itself, which has the descriptor until it executes, and by the guard. False
// with errno.
bool write_slot(int journal, size_t index, const JournalSlot& slot);

// Ends what dead guards left and removes their files.
void recover_journals(int directory);

// Removes this guard's file.
void close_journal(int directory, UniqueFd* journal);

uint64_t boot_time_ns();

}  // namespace cordon
