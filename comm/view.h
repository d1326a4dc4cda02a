#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "comm/peer_id.h"
#include "ops/base/hash.h"
#include "ops/base/result.h"
#include "ops/parameters.h"

namespace shoal::comm {

/// A member of a view.
struct Member {
  MemberId id;
  std::uint64_t rate = 0;  ///< bytes/s it can send and receive, as measured; 0 unknown
  double speed = 1;        ///< samples/s relative to the others; its share of a global batch
  friend bool operator==(const Member&, const Member&) = default;
};

/// Who takes part in a round, in order, and who owns which granules. The first member leads.
/// A view stands until a committed round names another; nothing else changes it.
struct View {
  std::uint32_t number = 0;
  std::vector<Member> members;
  /// members.size() + 1 granule indices, rising from 0 to the model's granule count: member i
  /// owns part i, granules [bounds[i], bounds[i+1]).
  std::vector<std::uint64_t> bounds;

  [[nodiscard]] std::size_t size() const { return members.size(); }
  [[nodiscard]] Range part(std::size_t i) const { return {bounds[i], bounds[i + 1]}; }
  /// All parts together.
  [[nodiscard]] Range whole() const { return {bounds.front(), bounds.back()}; }
  [[nodiscard]] std::optional<std::size_t> index_of(const MemberId& id) const;
  [[nodiscard]] std::optional<std::size_t> index_of(const PeerId& peer) const;
  /// Votes that decide: more than half of the members.
  [[nodiscard]] std::size_t majority() const { return members.size() / 2 + 1; }
  friend bool operator==(const View&, const View&) = default;
};

/// Whether the flat space may be cut before a granule, which a codec of whole tensors decides;
/// null: before any.
using MayCut = std::function<bool(std::uint64_t granule)>;

/// Cuts `granules` among the members so that the two-hop exchange ends soonest, by a closed form:
/// T = V max(2(n-1)/sum B, 1/min B), f_i = max(0, (T B_i / V - 1)/(n-2)), slack scaled to 1;
/// equal parts when a rate is unknown or n <= 2. Computed by the view's proposer only; members
/// take the bounds from the view, so that rounding may differ between machines. A bound moves to
/// the nearest place where it may be.
/// Source: hivemind's load balancing minimises the same objective by linear programming.
std::vector<std::uint64_t> balance_bounds(const std::vector<Member>& members,
                                          std::uint64_t granules, const MayCut& may_cut = nullptr);

/// Whether the view's bounds cut exactly these granules, and only where they may be cut.
bool bounds_fit(const View& view, std::uint64_t granules, const MayCut& may_cut = nullptr);

/// Orders attempts to decide one round. (0, zero) is the ballot that needs no leader's permission.
struct Ballot {
  std::uint32_t counter = 0;
  PeerId leader;
  friend auto operator<=>(const Ballot&, const Ballot&) = default;
};

}  // namespace shoal::comm
