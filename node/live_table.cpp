#include "node/live_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

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

struct Column {
  const char* head;
  std::size_t width;
  int rank;  ///< columns of the highest rank go first when there is no room
  std::string (*text)(const TableRow& row);
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"peer", 10, 0, [](const TableRow& r) { return r.peer; }},
      {"state", 11, 0, [](const TableRow& r) { return r.status.state; }},
      {"step", 9, 1, [](const TableRow& r) { return std::to_string(r.status.step); }},
      {"loss", 10, 1, [](const TableRow& r) { return cell("%.4f", r.status.loss); }},
      {"samples/s", 11, 2, [](const TableRow& r) { return cell("%.0f", r.status.samples_per_s); }},
      {"up/s", 11, 3, [](const TableRow& r) { return bytes_text(r.status.sent_per_s); }},
      {"down/s", 11, 3, [](const TableRow& r) { return bytes_text(r.status.received_per_s); }},
  };
  return all;
}

/// The columns for which there is room.
std::vector<const Column*> fitting(std::size_t width) {
  for (int rank = 3;; --rank) {
    std::vector<const Column*> out;
    std::size_t total = 0;
    for (const Column& column : columns()) {
      if (column.rank <= rank) {
        out.push_back(&column);
        total += column.width;
      }
    }
    if (total < width || rank == 0) {
      return out;
    }
  }
}

/// One line, no longer than the terminal is wide: a line that wraps can't be painted over.
template <typename Text>
std::string line(const std::vector<const Column*>& shown, std::size_t width, Text text) {
  std::string out;
  for (const Column* column : shown) {
    out += padded(text(*column), column->width, column->rank == 0);
  }
  return out.substr(0, width > 0 ? width - 1 : 0);
}

}  // namespace

std::string table_text(const std::vector<TableRow>& rows, bool colour, TableSize size) {
  const auto shown = fitting(size.width);
  const std::string head = line(shown, size.width, [](const Column& c) { return c.head; });
  std::string out = colour ? kBold + head + kPlain : head;
  out += "\n";
  // The head, a line for those that are left out, and the cursor's own.
  const std::size_t room = size.height > 4 ? size.height - 3 : 1;
  const std::size_t count = rows.size() <= room ? rows.size() : room;
  for (std::size_t i = 0; i < count; ++i) {
    const TableRow& row = rows[i];
    const std::string text = line(shown, size.width, [&](const Column& c) { return c.text(row); });
    out += colour && row.status.state != "training" ? kDim + text + kPlain : text;
    out += "\n";
  }
  if (count < rows.size()) {
    const std::string more = "+" + std::to_string(rows.size() - count) + " more";
    out += more.substr(0, size.width - 1) + "\n";
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

std::string LiveTable::clearing() {
  const std::size_t lines = std::exchange(lines_, 0);
  // From the left: a ^C that the terminal echoed has moved the cursor.
  return lines > 0 ? "\r\x1b[" + std::to_string(lines) + "A\x1b[J" : "";
}

void LiveTable::clear() { write(clearing()); }

void LiveTable::paint(const std::vector<TableRow>& rows) {
  if (!terminal_) {
    return;
  }
  TableSize size;
  winsize window{};
  if (::ioctl(fd_, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0) {
    size = {window.ws_col, window.ws_row};
  }
  const std::string text = table_text(rows, colour_, size);
  write(clearing() + text);  // at once, or it flickers
  lines_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace shoal::node
