#include "comm/view.h"

#include <algorithm>
#include <cmath>

namespace shoal::comm {

std::optional<std::size_t> View::index_of(const MemberId& id) const {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].id == id) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> View::index_of(const PeerId& peer) const {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].id.peer == peer) {
      return i;
    }
  }
  return std::nullopt;
}

namespace {

/// Fractions of the vector that each member reduces; see balance_bounds.
std::vector<double> fractions(const std::vector<Member>& members) {
  const auto n = static_cast<double>(members.size());
  std::vector<double> f(members.size(), 1 / n);
  const bool unknown =
      std::any_of(members.begin(), members.end(), [](const Member& m) { return m.rate == 0; });
  if (unknown || members.size() <= 2) {
    return f;
  }
  double sum = 0;
  double slowest = static_cast<double>(members.front().rate);
  for (const auto& m : members) {
    sum += static_cast<double>(m.rate);
    slowest = std::min(slowest, static_cast<double>(m.rate));
  }
  const double time = std::max(2 * (n - 1) / sum, 1 / slowest);
  double total = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    f[i] = std::max(0.0, (time * static_cast<double>(members[i].rate) - 1) / (n - 2));
    total += f[i];
  }
  for (auto& x : f) {
    x = total > 0 ? x / total : 1 / n;
  }
  return f;
}

}  // namespace

std::vector<std::uint64_t> balance_bounds(const std::vector<Member>& members,
                                          std::uint64_t granules) {
  std::vector<std::uint64_t> bounds{0};
  double cumulative = 0;
  for (const double f : fractions(members)) {
    cumulative += f;
    const double cut = std::round(cumulative * static_cast<double>(granules));
    bounds.push_back(
        std::clamp(static_cast<std::uint64_t>(std::max(0.0, cut)), bounds.back(), granules));
  }
  bounds.back() = granules;
  return bounds;
}

}  // namespace shoal::comm
