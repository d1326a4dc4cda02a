#include "node/run/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace shoal::node {
namespace {

Error refused(const char* what) {
  return internal_error(std::string("can't start a peer: ") + what + ": " +
                        std::system_category().message(errno));
}

/// Takes whole lines off the front of `text`.
std::vector<std::string> split_lines(std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  text.erase(0, begin);
  return lines;
}

/// Reads what is there; false when the other end is closed.
bool read_some(int fd, std::string& into) {
  char buffer[16384];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) {
      into.append(buffer, static_cast<std::size_t>(n));
      return true;
    }
    if (n < 0 && errno == EINTR) {
      continue;
    }
    return n < 0 && errno == EAGAIN;
  }
}

bool readable(int fd, int timeout_ms) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, timeout_ms) > 0;
}

/// In the child, between fork and exec: system calls only, since other threads are gone.
[[noreturn]] void become(const char* program, char* const* argv, int in, int out, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) {  // else it died before we asked
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::execv(program, argv);
  }
  ::_exit(127);
}

}  // namespace

Result<Child> Child::start(const std::string& program, const std::vector<std::string>& arguments) {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) {
    return refused("pipe");
  }
  if (::pipe2(out, O_CLOEXEC) != 0) {
    ::close(in[0]);
    ::close(in[1]);
    return refused("pipe");
  }
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const pid_t self = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    become(program.c_str(), argv.data(), in[0], out[1], self);
  }
  ::close(in[0]);
  ::close(out[1]);
  if (pid < 0) {
    ::close(in[1]);
    ::close(out[0]);
    return refused("fork");
  }
  return Child(pid, in[1], out[0]);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      partial_(std::move(other.partial_)),
      end_(other.end_) {}

Child::~Child() {
  if (pid_ < 0) {
    return;
  }
  if (!ended().has_value()) {
    send_signal(SIGKILL);
    wait();
  }
  ::close(in_);
  if (out_ >= 0) {
    ::close(out_);
  }
}

std::vector<std::string> Child::read_lines() {
  if (out_ >= 0 && readable(out_, 0) && !read_some(out_, partial_)) {
    ::close(std::exchange(out_, -1));
  }
  return split_lines(partial_);
}

void Child::write_line(const std::string& line) const {
  const std::string text = line + "\n";
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = ::write(in_, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return;
    }
    at += static_cast<std::size_t>(n);
  }
}

void Child::send_signal(int signal) const {
  if (!end_.has_value()) {
    ::kill(pid_, signal);
  }
}

void Child::note(int status) {
  end_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::optional<int> Child::ended() {
  int status = 0;
  if (!end_.has_value() && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    note(status);
  }
  return end_;
}

int Child::wait() {
  int status = 0;
  while (!end_.has_value()) {
    if (::waitpid(pid_, &status, 0) == pid_) {
      note(status);
    } else if (errno != EINTR) {
      end_ = 1;  // not ours any more
    }
  }
  return *end_;
}

std::vector<std::string> ParentPipe::read_lines() {
  if (!closed_ && readable(fd_, 0)) {
    closed_ = !read_some(fd_, partial_);
  }
  return split_lines(partial_);
}

Result<std::string> ParentPipe::wait_line() {
  for (;;) {
    if (const std::size_t end = partial_.find('\n'); end != std::string::npos) {
      std::string line = partial_.substr(0, end);
      partial_.erase(0, end + 1);
      return line;
    }
    if (!read_some(fd_, partial_)) {
      closed_ = true;
      return internal_error("the command that started this peer has gone");
    }
  }
}

}  // namespace shoal::node
