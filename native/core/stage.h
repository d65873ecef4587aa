// The steps between a request and the command's first instruction: the unit of launch failure.
#pragma once

#include <cstdint>

namespace cordon {

enum class Stage : uint32_t {
  kDescriptors = 1,
  kPlan,
  kIdentity,
  kTemp,
  kJournal,
  kWorkingDirectory,
  kUmask,
  kSubreaper,
  kNamespaces,
  kMounts,
  kNoNewPrivs,
  kCapabilities,
  kSecurebits,
  kLandlockCreate,
  kLandlockRule,
  kRootChanged,
  kLandlockRestrict,
  kProcess,
  kSession,
  kParentDeath,
  kSignals,
  kLimits,
  kLandlockChild,
  kSeccomp,
  kExec,
};

// Names are within the row: a pointer would have to be relocated at every start.
struct StageName {
  Stage stage;
  char name[20];
};

// Mirrored by src/errors/stages.ts; a test compares the two.
inline constexpr StageName kStageNames[] = {
    {Stage::kDescriptors, "descriptors"},
    {Stage::kPlan, "plan"},
    {Stage::kIdentity, "identity"},
    {Stage::kTemp, "temp"},
    {Stage::kJournal, "journal"},
    {Stage::kWorkingDirectory, "working-directory"},
    {Stage::kUmask, "umask"},
    {Stage::kSubreaper, "subreaper"},
    {Stage::kNamespaces, "namespaces"},
    {Stage::kMounts, "mounts"},
    {Stage::kNoNewPrivs, "no-new-privs"},
    {Stage::kCapabilities, "capabilities"},
    {Stage::kSecurebits, "securebits"},
    {Stage::kLandlockCreate, "landlock-create"},
    {Stage::kLandlockRule, "landlock-rule"},
    {Stage::kRootChanged, "root-changed"},
    {Stage::kLandlockRestrict, "landlock-restrict"},
    {Stage::kProcess, "process"},
    {Stage::kSession, "session"},
    {Stage::kParentDeath, "parent-death"},
    {Stage::kSignals, "signals"},
    {Stage::kLimits, "limits"},
    {Stage::kLandlockChild, "landlock-child"},
    {Stage::kSeccomp, "seccomp"},
    {Stage::kExec, "exec"},
};

constexpr const char* stage_name(Stage stage) {
  for (const StageName& row : kStageNames) {
    if (row.stage == stage) return row.name;
  }
  return "unknown";
}

}  // namespace cordon
