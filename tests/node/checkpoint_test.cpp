#include "node/checkpoint.h"

#include <algorithm>
#include <filesystem>

#include "node/files.h"
#include "ops/safetensors.h"
#include "tests/node/support/team.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"
#include "tests/support/temp_folder.h"

namespace shoal::node::tests {
namespace {

namespace fs = std::filesystem;
using shoal::tests::TempFolder;

Bytes unsealed(std::uint64_t round) {
  const std::vector<float> values = {1, 2, 3};
  ops::safetensors::Writer writer;
  writer.add("w", {3}, values);
  writer.set_metadata("round", std::to_string(round));
  writer.set_metadata("branch", "9");
  writer.set_metadata("parent", Hash256{}.hex());
  writer.set_metadata(kChecksumKey, checksum_placeholder());
  ByteWriter out;
  writer.write(out);
  return out.take_bytes();
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::recursive_directory_iterator(folder), fs::recursive_directory_iterator()));
}

Team::Changes with_checkpoints(const Team::Changes& changes, const fs::path& folder) {
  Team::Changes out = changes;
  out.settings.emplace_back("checkpoint.every=120ms");
  out.checkpoint_folder = folder.string();
  return out;
}

/// Three peers that stop after some rounds and go on from a checkpoint, beside three that don't.
void check_resume(const std::vector<std::string>& strategy, const char* mode) {
  std::vector<std::string> settings = {"data.mode=" + std::string(mode), "compress.codec=int8",
                                       "train.momentum=0.9", "train.batch=16"};
  settings.insert(settings.end(), strategy.begin(), strategy.end());
  Team undisturbed(3, settings);
  undisturbed.run();
  require_equal_replicas(undisturbed);

  const TempFolder folder;
  Team killed(3, settings, [&](std::size_t, Team::Changes& changes) {
    changes = with_checkpoints(changes, folder.path());
  });
  killed.run_until([&] { return killed.reports[2].size() >= 9; });
  std::vector<std::string> skipped;
  const ResumePoint point = must(Checkpoints::newest(folder.path(), 2, skipped));
  CHECK(point.round >= 2);

  Team resumed(3, settings, [&](std::size_t, Team::Changes& changes) {
    changes = with_checkpoints(changes, folder.path());
    changes.resume_round = point.round;
  });
  resumed.run();
  require_equal_replicas(resumed);
  CHECK(resumed.summaries[0]->first_round == point.round + 1);
  CHECK(resumed.summaries[0]->parameter_hash == undisturbed.summaries[0]->parameter_hash);
}

}  // namespace

TEST_CASE("checkpoint: every flipped bit and every cut is noticed") {
  const Bytes sealed = seal(unsealed(3));
  REQUIRE(check_seal(sealed.span()).ok());
  CHECK(ops::safetensors::parse(sealed.span()).ok());
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::vector<std::byte> bytes(sealed.span().begin(), sealed.span().end());
    bytes[at] ^= std::byte{1};
    INFO("byte " << at);
    CHECK_FALSE(check_seal(bytes).ok());
    CHECK_FALSE(check_seal(sealed.span().first(at)).ok());
  }
}

TEST_CASE("checkpoint: the last two of a peer are kept, no temporary is left") {
  const TempFolder folder;
  const Checkpoints a(folder.path(), "a");
  const Checkpoints b(folder.path(), "b");
  for (const std::uint64_t round : {5U, 10U, 100U}) {
    REQUIRE(a.write(round, unsealed(round), unsealed(round)).ok());
    REQUIRE(b.write(round, unsealed(round), unsealed(round)).ok());
  }
  CHECK_FALSE(fs::exists(folder.path() / "5"));
  CHECK(fs::exists(folder.path() / "10"));
  CHECK(fs::exists(folder.path() / "100"));
  CHECK(entries(folder.path()) == 2 + 2 * 3);
}

TEST_CASE("checkpoint: the newest round that a quorum holds whole is taken") {
  const TempFolder folder;
  const Checkpoints a(folder.path(), "a");
  const Checkpoints b(folder.path(), "b");
  REQUIRE(a.write(5, unsealed(5), unsealed(5)).ok());
  REQUIRE(b.write(5, unsealed(5), unsealed(5)).ok());
  REQUIRE(a.write(6, unsealed(6), unsealed(6)).ok());
  std::vector<std::string> skipped;
  CHECK(must(Checkpoints::newest(folder.path(), 1, skipped)).round == 6);
  CHECK(must(Checkpoints::newest(folder.path(), 2, skipped)).round == 5);
  CHECK(skipped.size() == 1);

  REQUIRE(b.write(6, unsealed(6), unsealed(6)).ok());
  CHECK(must(Checkpoints::newest(folder.path(), 2, skipped)).round == 6);
  fs::resize_file(folder.path() / "6" / "shared.safetensors", 40);
  skipped.clear();
  CHECK(must(Checkpoints::newest(folder.path(), 2, skipped)).round == 5);
  REQUIRE(skipped.size() == 1);
  CHECK(skipped[0].find("damaged") != std::string::npos);
  CHECK(a.read(6).error().code == Code::kData);

  fs::remove_all(folder.path() / "5");
  const auto none = Checkpoints::newest(folder.path(), 2, skipped);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == Code::kData);
}

TEST_CASE("checkpoint: prune takes away what a resumed run writes anew") {
  const TempFolder folder;
  const Checkpoints a(folder.path(), "a");
  REQUIRE(a.write(5, unsealed(5), unsealed(5)).ok());
  REQUIRE(a.write(6, unsealed(6), unsealed(6)).ok());
  REQUIRE(write_file(folder.path() / "5" / "x.shoal-tmp1", "half").ok());
  Checkpoints::prune(folder.path(), 5);
  CHECK(fs::exists(folder.path() / "5" / "shared.safetensors"));
  CHECK_FALSE(fs::exists(folder.path() / "5" / "x.shoal-tmp1"));
  CHECK_FALSE(fs::exists(folder.path() / "6"));
}

TEST_CASE("checkpoint: a resumed group ends as an undisturbed one, to the bit") {
  const std::vector<std::string> local = {"sync.name=local", "sync.period=2"};
  const auto with_outer = [&local](const char* outer) {
    std::vector<std::string> settings = local;
    settings.insert(settings.end(), {"sync.outer=" + std::string(outer), "sync.outer_lr=0.01"});
    return settings;
  };
  const std::vector<std::vector<std::string>> strategies = {
      {"sync.name=allreduce"}, local,
      with_outer("adamw"),     with_outer("adagrad"),
      with_outer("yogi"),      with_outer("lars"),
      with_outer("lamb"),
  };
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    for (const char* mode : {"shared", "private"}) {
      INFO(strategies[i].front() << ", " << strategies[i].back() << ", " << mode);
      if (i >= 2 && std::string(mode) == "private") {
        continue;  // the outer optimizer sees nothing of where samples come from
      }
      check_resume(strategies[i], mode);
    }
  }
}

TEST_CASE("shared state: what it saves it loads, and nothing else") {
  Team team(2, {"train.momentum=0.9"});
  team.run();
  const SharedState& state = team.state(0);
  const Bytes saved = state.save();
  CHECK(hash_of(saved.span()) == state.hash());
  StateBuilder builder =
      must(make_peer_parts(Team::config(2, 0, {"train.momentum=0.9"}), Log())).builder;
  const std::uint64_t seed = shoal::tests::test_seed(1);
  auto strategy = must(configured_strategy(Team::config(2, 0, {"train.momentum=0.9"}), 512));
  builder.strategy = strategy.get();
  const auto loaded = must(SharedState::load(builder, saved.span()));
  CHECK(loaded->hash() == state.hash());
  CHECK(loaded->progress == state.progress);
  Rng rng(seed, 1);
  for (int i = 0; i < 500; ++i) {  // as from a hostile peer: an error, never the end of us
    std::vector<std::byte> bytes(saved.span().begin(), saved.span().end());
    bytes[static_cast<std::size_t>(rng.below(bytes.size()))] ^= std::byte{1};
    static_cast<void>(SharedState::load(builder, bytes));  // a changed weight is no error
    bytes.resize(static_cast<std::size_t>(rng.below(bytes.size())));
    CHECK_FALSE(SharedState::load(builder, bytes).ok());
  }
}

}  // namespace shoal::node::tests
