// Writes the seeds of broker_fuzz: a question for each row of the broker's and the observer's
// tables, with everything that it points at in the caller's memory.
//
// usage: broker_seeds DIRECTORY

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "linux/broker_calls.h"
#include "linux/observed_calls.h"
#include "linux/seccomp_filter.h"
#include "test/fuzz/broker_question.h"

namespace {

using cordon::BrokerCall;
using cordon::kNone;
using cordon::ObservedCall;
using cordon::Operation;
using cordon::test::kQuestionMemory;
using cordon::test::QuestionHeader;

class Question {
 public:
  Question(uint32_t features, int number) {
    header_.features = features;
    header_.number = number;
  }

  void word(int position, uint64_t value) { header_.words[position] = value; }

  // In memory; its address.
  uint64_t bytes(const void* from, size_t size) {
    uint64_t address = kQuestionMemory + memory_.size();
    memory_.append(static_cast<const char*>(from), size);
    return address;
  }
  uint64_t text(const std::string& value) { return bytes(value.c_str(), value.size() + 1); }

  void write(const std::string& path) const {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&header_), sizeof header_);
    file.write(memory_.data(), static_cast<std::streamsize>(memory_.size()));
  }

 private:
  QuestionHeader header_{};
  std::string memory_;
};

std::string g_directory;
int g_written = 0;

void write(const Question& question, const std::string& name) {
  question.write(g_directory + "/" + std::to_string(++g_written) + "-" + name);
}

void add_values(const BrokerCall& row, Question* question) {
  int first = row.values;
  const uint64_t numbers[4] = {1, 2, 3, 4};
  switch (row.operation) {
    case Operation::kMode:
      question->word(first, 04755);
      return;
    case Operation::kOwner:
      question->word(first, 65534);
      question->word(first + 1, ~0ull);
      return;
    case Operation::kUtime:
    case Operation::kTimevals:
      question->word(first, question->bytes(numbers, sizeof numbers));
      return;
    case Operation::kTimespecs: {
      const uint64_t one_omitted[4] = {1, UTIME_OMIT, 3, 4};
      question->word(first, question->bytes(one_omitted, sizeof one_omitted));
      return;
    }
    case Operation::kSetXattr:
      question->word(first, question->text("user.name"));
      question->word(first + 1, question->bytes("value", 5));
      question->word(first + 2, 5);
      return;
    case Operation::kSetXattrAt: {
      const struct {
        uint64_t value;
        uint32_t size;
        uint32_t flags;
      } arguments{question->bytes("value", 5), 5, 0};
      question->word(first, question->text("security.capability"));
      question->word(first + 1, question->bytes(&arguments, sizeof arguments));
      question->word(first + 2, sizeof arguments);
      return;
    }
    case Operation::kRemoveXattr:
      question->word(first, question->text("user.name"));
      return;
    case Operation::kFileAttributes:
      question->word(first, question->bytes(numbers, 24));
      question->word(first + 1, 24);
      return;
    case Operation::kIoctl:
      question->word(first, cordon::kIoctlSetXattr);
      question->word(first + 1, question->bytes(numbers, sizeof(fsxattr)));
      return;
    case Operation::kTruncate:
      question->word(first, 0);
      return;
    case Operation::kOpenTruncating:
      question->word(first, O_WRONLY | O_CREAT | O_TRUNC);
      question->word(first + 1, 0644);
      return;
  }
}

void write_brokered(const BrokerCall& row, const std::string& path) {
  int number = cordon::kThisArchitecture == cordon::Architecture::kX8664 ? row.x86_64 : row.arm64;
  if (number == cordon::kNoSuchCall) return;
  Question question(cordon::kFilterBrokerMetadata | cordon::kFilterBrokerTruncate, number);
  if (row.directory != kNone) question.word(row.directory, static_cast<uint32_t>(AT_FDCWD));
  if (row.path != kNone) question.word(row.path, question.text(path));
  if (row.flags != kNone) question.word(row.flags, AT_SYMLINK_NOFOLLOW);
  add_values(row, &question);
  write(question, std::to_string(number));
}

void write_observed(const ObservedCall& row) {
  int number = cordon::kThisArchitecture == cordon::Architecture::kX8664 ? row.x86_64 : row.arm64;
  if (number == cordon::kNoSuchCall) return;
  Question question(cordon::kFilterObserve, number);
  if (row.directory != kNone) question.word(row.directory, static_cast<uint32_t>(AT_FDCWD));
  question.word(row.path, question.text("directory/file"));
  if (row.path2 != kNone) {
    question.word(row.directory2 == kNone ? 5 : row.directory2, 7);
    question.word(row.path2, question.text("/dev/fd/7/other"));
  }
  write(question, "observed-" + std::to_string(number));
}

// No path where the call takes one for the descriptor.
void write_descriptor(const BrokerCall& row) {
  int number = cordon::kThisArchitecture == cordon::Architecture::kX8664 ? row.x86_64 : row.arm64;
  if (number == cordon::kNoSuchCall || row.directory == kNone) return;
  Question question(cordon::kFilterBrokerMetadata, number);
  question.word(row.directory, 7);
  if (row.flags != kNone) question.word(row.flags, AT_EMPTY_PATH);
  add_values(row, &question);
  write(question, "descriptor-" + std::to_string(number));
}

void write_connect(const std::string& name, const void* address, size_t size) {
  Question question(cordon::kFilterBrokerSockets, SYS_connect);
  question.word(0, 3);
  question.word(1, question.bytes(address, size));
  question.word(2, size);
  write(question, "connect-" + name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: broker_seeds DIRECTORY\n");
    return 2;
  }
  g_directory = argv[1];
  std::filesystem::create_directories(g_directory);
  for (const BrokerCall& row : cordon::kBrokerCalls) {
    write_brokered(row, "file");
    write_descriptor(row);
  }
  for (const char* path :
       {"", "/", "/dev/stdout", "/dev/fd/3/", "/proc/self/fd/7", "/proc/thread-self/fd/7//below",
        "/proc/1/fd/7", "/proc/2147483648/fd/7", "/proc/self/fd/99999999999999999999"}) {
    write_brokered(cordon::kBrokerCalls[2], path);
  }
  write_brokered(cordon::kBrokerCalls[2], std::string(4095, 'p'));
  for (const ObservedCall& row : cordon::kObservedCalls) write_observed(row);
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  strcpy(local.sun_path, "/tmp/socket");
  write_connect("path", &local, sizeof local);
  memset(local.sun_path, 's', sizeof local.sun_path);
  write_connect("unended", &local, sizeof local);
  memcpy(local.sun_path, "\0name", 5);
  write_connect("abstract", &local, 7);
  return 0;
}
