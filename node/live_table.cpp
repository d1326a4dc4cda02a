#include "node/live_table.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "node/units.h"

namespace shoal::node {
namespace {

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kPlain = "\x1b[0m";

std::string cell(const char* format, double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string room(width > text.size() ? width - text.size() : 0, ' ');
  return left ? text + room : room + text;
}

std::string line(const std::string& peer, const std::string& state, const std::string& step,
                 const std::string& loss, const std::string& rate, const std::string& up,
                 const std::string& down) {
  return padded(peer, 10, true) + padded(state, 12, true) + padded(step, 9, false) +
         padded(loss, 10, false) + padded(rate, 12, false) + padded(up, 13, false) +
         padded(down, 13, false);
}

}  // namespace

std::string table_text(const std::vector<TableRow>& rows, bool colour) {
  const std::string head = line("peer", "state", "step", "loss", "samples/s", "up/s", "down/s");
  std::string out = colour ? kBold + head + kPlain : head;
  out += "\n";
  for (const TableRow& row : rows) {
    const PeerStatus& s = row.status;
    const std::string text =
        line(row.peer, s.state, std::to_string(s.step), cell("%.4f", s.loss),
             cell("%.0f", s.samples_per_s), bytes_text(s.sent_per_s), bytes_text(s.received_per_s));
    out += colour && s.state != "training" ? kDim + text + kPlain : text;
    out += "\n";
  }
  return out;
}

void LiveTable::write(const std::string& text) const {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = ::write(fd_, text.data() + at, text.size() - at);
    if (n <= 0) {
      return;  // a terminal that went away is no reason to stop training
    }
    at += static_cast<std::size_t>(n);
  }
}

void LiveTable::clear() {
  if (lines_ > 0) {
    write("\x1b[" + std::to_string(lines_) + "A\x1b[J");
    lines_ = 0;
  }
}

void LiveTable::paint(const std::vector<TableRow>& rows) {
  if (!terminal_) {
    return;
  }
  clear();
  const std::string text = table_text(rows, colour_);
  write(text);
  lines_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace shoal::node
