#include "node/live_table.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>

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

TEST_CASE("live table: fits any terminal, and says whom it leaves out") {
  std::vector<TableRow> rows;
  for (int i = 0; i < 30; ++i) {
    rows.push_back({"peer" + std::to_string(i), {}});
    rows.back().status.samples_per_s = 123456;
  }
  for (const std::size_t width : {10U, 20U, 40U, 60U, 80U, 120U}) {
    for (const std::size_t height : {3U, 10U, 24U, 60U}) {
      INFO(width << " x " << height);
      const std::string text = table_text(rows, false, {width, height});
      std::istringstream in(text);
      std::size_t lines = 0;
      for (std::string line; std::getline(in, line); ++lines) {
        CHECK(line.size() < width);
      }
      CHECK(lines < std::max<std::size_t>(height, 4));
      CHECK((text.find("more") != std::string::npos) == (height < 60));
      CHECK((text.find("down/s") != std::string::npos) == (width >= 80));
      CHECK((text.find("samples/s") != std::string::npos) == (width >= 60));
    }
  }
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
  CHECK_THAT(written(), Contains("\r\x1b[2A\x1b[J"));  // up by header and row, and cleared
  LiveTable quiet(pipe[1], false, false);
  quiet.paint({{"a", {}}});
  quiet.clear();
  ::close(pipe[1]);
  char rest = 0;
  CHECK(::read(pipe[0], &rest, 1) == 0);
  ::close(pipe[0]);
}

}  // namespace shoal::node::tests
