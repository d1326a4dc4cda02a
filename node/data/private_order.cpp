#include "node/data/private_order.h"

#include "node/data/permutation.h"
#include "ops/base/check.h"
#include "ops/base/hash.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kDomain = 0x70726976617465;  // apart from the global order of this seed

}  // namespace

PrivateOrder::PrivateOrder(std::uint64_t seed, std::vector<std::uint32_t> own)
    : seed_(mix(seed, kDomain)), own_(std::move(own)) {
  SHOAL_CHECK(!own_.empty(), "a private part holds a sample");
  const Hash256 hash = hash_of(std::as_bytes(std::span(own_)));
  std::memcpy(&fingerprint_, hash.bytes.data(), sizeof fingerprint_);
}

std::vector<std::uint32_t> PrivateOrder::next(std::uint64_t count) {
  auto indices = peek(count);
  given_ += count;
  return indices;
}

std::vector<std::uint32_t> PrivateOrder::peek(std::uint64_t count) const {
  std::uint64_t given = given_;
  std::vector<std::uint32_t> indices;
  indices.reserve(count);
  while (indices.size() < count) {
    const std::uint64_t position = given % own_.size();
    const Permutation order(seed_, given / own_.size(), own_.size());
    const std::uint64_t end = std::min(own_.size(), position + count - indices.size());
    for (std::uint64_t i = position; i < end; ++i) {
      indices.push_back(own_[static_cast<std::size_t>(order.at(i))]);
    }
    given += end - position;
  }
  return indices;
}

void PrivateOrder::save(ByteWriter& out) const {
  out.put(seed_);
  out.put(fingerprint_);
  out.put(given_);
}

Status PrivateOrder::load(ByteReader& in) {
  std::uint64_t seed = 0;
  std::uint64_t fingerprint = 0;
  std::uint64_t given = 0;
  if (!in.get(seed) || !in.get(fingerprint) || !in.get(given)) {
    return data_error("the data position in the checkpoint ends early");
  }
  if (seed != seed_ || fingerprint != fingerprint_) {
    return data_error("the data position in the checkpoint is of another part or another seed");
  }
  given_ = given;
  return {};
}

}  // namespace shoal::node
