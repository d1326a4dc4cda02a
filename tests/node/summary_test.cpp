#include "node/summary.h"

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

PeerSummary peer(const std::string& id, const std::string& status, const std::string& hash) {
  PeerSummary p;
  p.id = id;
  p.status = status;
  p.parameter_hash = hash;
  p.train_loss = 0.5;
  p.bytes_sent = 100;
  p.bytes_received = 10;
  p.dropped["stale"] = 3;
  p.exit_code = status == "failed" ? 4 : 0;
  p.error = status == "failed" ? "port taken" : "";
  return p;
}

}  // namespace

TEST_CASE("summary: a peer's goes to JSON and back") {
  PeerSummary p = peer("ab", "done", "cd");
  p.target_reached_s = 2.5;
  p.residuals_lost = {"a sentence"};
  const auto back = PeerSummary::parse(p.json());
  REQUIRE(back.ok());
  CHECK(back->json() == p.json());
  CHECK(back->target_reached_s == 2.5);
  CHECK_FALSE(PeerSummary::parse("{}").ok());
  CHECK_FALSE(PeerSummary::parse("not json").ok());
}

TEST_CASE("summary: a run is done when somebody is, and bytes are added up") {
  const auto run = RunSummary::of(
      "r", 3, {peer("a", "killed", ""), peer("b", "done", "x"), peer("c", "done", "x")});
  CHECK(run.status == "done");
  CHECK(run.exit_code() == 0);
  const auto json = nlohmann::json::parse(run.json());
  CHECK(json["peers"] == 3);
  CHECK(json["bytes_sent"] == 300);
  CHECK(json["bytes_received"] == 30);
  CHECK(json["parameter_hash"] == "x");
  CHECK(json["virtual_s"].is_null());
  CHECK(json["train_loss"] == 0.5);
}

TEST_CASE("summary: replicas that differ are a failure") {
  const auto run = RunSummary::of("r", 3, {peer("a", "done", "x"), peer("b", "done", "y")});
  CHECK(run.status == "failed");
  CHECK(run.exit_code() == 1);
  CHECK(run.error.find("different parameters") != std::string::npos);
}

TEST_CASE("summary: when nobody came to the end, the reason is that of who failed") {
  const auto run = RunSummary::of("r", 3, {peer("a", "killed", ""), peer("b", "failed", "")});
  CHECK(run.status == "failed");
  CHECK(run.exit_code() == 4);
  CHECK(run.error == "port taken");
}

}  // namespace shoal::node::tests
