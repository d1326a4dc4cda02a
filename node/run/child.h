#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "ops/base/result.h"

namespace shoal::node {

/// A direct child process with pipes to its standard input and output; its standard error is ours.
/// It has a process group of its own, so that Ctrl-C reaches us alone, and the kernel kills it when
/// we are gone. The destructor kills and reaps it: none is left behind.
class Child {
 public:
  /// Errors: kInternal when the system refuses.
  static Result<Child> start(const std::string& program, const std::vector<std::string>& arguments);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// To be polled for reading; -1 once the child has closed it.
  [[nodiscard]] int output() const { return out_; }
  /// Whole lines that have arrived; never blocks once `output()` is readable.
  std::vector<std::string> read_lines();
  /// Writes a line to its input; a child that is gone is no error.
  void write_line(const std::string& line) const;
  void send_signal(int signal) const;

  /// How it ended: an exit code, or minus the signal that killed it.
  [[nodiscard]] std::optional<int> ended();
  /// Waits for the end.
  int wait();

 private:
  Child(pid_t pid, int in, int out) : pid_(pid), in_(in), out_(out) {}
  void note(int status);

  pid_t pid_;
  int in_;
  int out_;
  std::string partial_;
  std::optional<int> end_;
};

/// Lines from our own parent on standard input, without blocking. For the child's side.
class ParentPipe {
 public:
  explicit ParentPipe(int fd) : fd_(fd) {}
  /// Whole lines that have arrived by now.
  std::vector<std::string> read_lines();
  /// Waits for one line. Errors: kInternal when the parent has gone.
  Result<std::string> wait_line();
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  int fd_;
  std::string partial_;
  bool closed_ = false;
};

}  // namespace shoal::node
