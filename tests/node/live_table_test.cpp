#include "node/live_table.h"

#include <unistd.h>

#include <cmath>

#include "tests/support/catch.h"

namespace shoal::node::tests {

using Catch::Matchers::Contains;

TEST_CASE("live table: one line a peer, figures that are none as a dash") {
  PeerStatus status;
  status.state = "training";
  status.step = 42;
  status.loss = std::nan("");
  status.samples_per_s = 1234;
  status.sent_per_s = 2e6;
  const std::string text = table_text({{"abcd0123", status}, {"ef", status}}, false);
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  CHECK_THAT(text, Contains("abcd0123") && Contains("training") && Contains("42") &&
                       Contains("1234") && Contains(" - ") && Contains("2"));
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("live table: painted over itself on a terminal, silent elsewhere") {
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const auto written = [&] {
    char buffer[4096];
    const ssize_t n = ::read(pipe[0], buffer, sizeof buffer);
    return std::string(buffer, static_cast<std::size_t>(n));
  };
  LiveTable table(pipe[1], true, false);
  table.paint({{"a", {}}});
  table.paint({{"a", {}}});
  table.clear();
  CHECK_THAT(written(), Contains("\x1b[2A\x1b[J"));  // up by header and row, and cleared
  LiveTable quiet(pipe[1], false, false);
  quiet.paint({{"a", {}}});
  quiet.clear();
  ::close(pipe[1]);
  char rest = 0;
  CHECK(::read(pipe[0], &rest, 1) == 0);
  ::close(pipe[0]);
}

}  // namespace shoal::node::tests
