#pragma once

#include <string>
#include <vector>

#include "node/metrics.h"

namespace shoal::node {

/// One line of the table.
struct TableRow {
  std::string peer;
  PeerStatus status;
};

/// Room for it, in characters.
struct TableSize {
  std::size_t width = 80;
  std::size_t height = 24;
};

/// The rows as text, header first: peer, state, step, loss, samples/s, bytes/s up and down; fewer
/// columns and rows where there is no room for all.
std::string table_text(const std::vector<TableRow>& rows, bool colour, TableSize size = {});

/// A table that is painted over itself on a terminal. Writes nothing where there is none.
class LiveTable {
 public:
  LiveTable(int fd, bool terminal, bool colour) : fd_(fd), terminal_(terminal), colour_(colour) {}
  void paint(const std::vector<TableRow>& rows);
  /// Takes the table away, so that a sentence can be written; the next paint() puts it back.
  void clear();
  /// Lets the table stand where it is; what is written next goes below it.
  void leave() { lines_ = 0; }

 private:
  void write(const std::string& text) const;
  [[nodiscard]] std::string clearing();

  int fd_;
  bool terminal_;
  bool colour_;
  std::size_t lines_ = 0;  // of the table on the screen
};

}  // namespace shoal::node
