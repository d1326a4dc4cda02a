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

/// The nearest granule at which the space may be cut; both ends may be.
std::uint64_t nearest_cut(std::uint64_t granule, std::uint64_t granules, const MayCut& may_cut) {
  const auto whole = [&](std::uint64_t g) { return g > 0 && g < granules && !may_cut(g); };
  std::uint64_t below = granule;
  std::uint64_t above = granule;
  while (may_cut && whole(below)) {
    --below;
  }
  while (may_cut && whole(above)) {
    ++above;
  }
  return granule - below <= above - granule ? below : above;
}

}  // namespace

bool bounds_fit(const View& view, std::uint64_t granules, const MayCut& may_cut) {
  const auto& bounds = view.bounds;
  return bounds.size() == view.size() + 1 && bounds.front() == 0 && bounds.back() == granules &&
         std::is_sorted(bounds.begin(), bounds.end()) &&
         (!may_cut || std::all_of(bounds.begin(), bounds.end(), [&](std::uint64_t g) {
           return g == 0 || g == granules || may_cut(g);
         }));
}

std::vector<std::uint64_t> balance_bounds(const std::vector<Member>& members,
                                          std::uint64_t granules, const MayCut& may_cut) {
  std::vector<std::uint64_t> bounds{0};
  double cumulative = 0;
  for (const double f : fractions(members)) {
    cumulative += f;
    const double cut = std::round(cumulative * static_cast<double>(granules));
    const auto bound =
        std::clamp(static_cast<std::uint64_t>(std::max(0.0, cut)), bounds.back(), granules);
    bounds.push_back(nearest_cut(bound, granules, may_cut));
  }
  bounds.back() = granules;
  return bounds;
}

}  // namespace shoal::comm
