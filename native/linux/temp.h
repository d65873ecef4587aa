// Private temp directories: made, held by a lock, emptied and removed on descriptors; no link is
// followed, no mount crossed.
#pragma once

#include <sys/types.h>

#include "core/failure.h"
#include "core/record.h"
#include "core/unique_fd.h"

namespace cordon {

inline constexpr char kTempPrefix[] = "cordon-";

struct TempDirectory {
  UniqueFd parent;
  UniqueFd directory;  // holds the lock that says a run is alive
  char name[kTempNameBytes] = {};

  bool made() const { return directory.valid(); }
};

// The form of a name: the prefix and then letters and digits only.
bool valid_temp_name(const char* name);

// A name that ends in the check digits of what is before them, as `platform/temp-name.ts` makes
// them. People call directories cordon-backup too; the sweep must know its own.
bool own_temp_name(const char* name);

// Writes such a name, which nothing else has. False with errno.
bool new_temp_name(char (*name)[kTempNameBytes]);

// Makes `temp->name` beneath `temp->parent`, mode 0700, and locks it.
bool make_temp(TempDirectory* temp, Failure* failure);

// Removes everything beneath an open directory, however deep, with few descriptors and little
// stack. False when something is left.
bool empty_directory(int directory);

// Empties and removes the directory. False when something is left.
bool remove_temp(TempDirectory* temp);

// Removes one directory with such a name unless somebody holds it. False when it is still there.
bool remove_stale_temp(int parent, const char* name);

// Removes what earlier runs of this uid left beneath `parent`: directories with a name of its own
// making that nobody holds.
void sweep_temp(int parent);

}  // namespace cordon
