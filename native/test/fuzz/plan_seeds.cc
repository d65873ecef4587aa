// Writes the seeds of plan_fuzz: one plan of each kind, in the form of today's decoder.
//
// usage: plan_seeds DIRECTORY

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "test/plan_bytes.h"

namespace {

using cordon::RuleKind;
using cordon::ViewKind;
using cordon::test::PlanSpec;

void write_seed(const std::string& path, const PlanSpec& plan) {
  cordon::test::Bytes bytes = cordon::test::encode(plan);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

PlanSpec smallest() {
  PlanSpec plan;
  plan.flags = 0;
  plan.cwd = "/";
  plan.program = "/bin/true";
  plan.arguments = {"true"};
  return plan;
}

PlanSpec confined() {
  PlanSpec plan = smallest();
  plan.flags = cordon::kFlagConfined | cordon::kFlagNewSession | cordon::kFlagRestrictsReading;
  plan.landlock_abi = 7;
  plan.umask = 022;
  plan.keep_capabilities = 0xb;
  plan.temp = "/tmp/cordon-a";
  plan.environment = {"A=1", "", "B=2"};
  plan.rules = {{RuleKind::kTree, "/w", true, 1, 2},     {RuleKind::kFile, "/f", true, 3, 4},
                {RuleKind::kDevice, "/dev/null"},        {RuleKind::kDeviceTree, "/dev/pts"},
                {RuleKind::kReadTree, "/r", true, 5, 6}, {RuleKind::kReadFile, "/s", true, 7, 8}};
  plan.limits = {{4, 1, 1}, {7, 64, 128}};
  return plan;
}

PlanSpec with_views() {
  PlanSpec plan = confined();
  plan.namespaces = cordon::kNamespaceUser | cordon::kNamespaceMount | cordon::kNamespaceIpc;
  plan.views = {{ViewKind::kReadOnly, "/"},      {ViewKind::kRoot, "/w", true, 1, 2},
                {ViewKind::kPin, "/w/a"},        {ViewKind::kKept, "/w/a/b"},
                {ViewKind::kKept, "/w/l", true}, {ViewKind::kReopened, "/w/a/b/c", true, 5, 6},
                {ViewKind::kHidden, "/w/h"},     {ViewKind::kCopied, "/etc/c"},
                {ViewKind::kSharedMemory, "/s"}, {ViewKind::kTerminals, "/dev/pts"},
                {ViewKind::kTemporary, "/tmp"}};
  return plan;
}

PlanSpec long_texts() {
  PlanSpec plan = confined();
  plan.program = "/" + std::string(300, 'p');
  plan.arguments.push_back(std::string(1000, 'a'));
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: plan_seeds DIRECTORY\n");
    return 2;
  }
  std::string directory = argv[1];
  std::filesystem::create_directories(directory);
  write_seed(directory + "/smallest", smallest());
  write_seed(directory + "/confined", confined());
  write_seed(directory + "/views", with_views());
  write_seed(directory + "/long-texts", long_texts());
  return 0;
}
