#include "node/summary.h"

#include <algorithm>
#include <cmath>

#include "node/json.h"

namespace shoal::node {
namespace {

using nlohmann::ordered_json;

constexpr int kSchema = 1;

ordered_json optional_number(const std::optional<double>& value) {
  return value.has_value() ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json to_json(const PeerSummary& p) {
  return {{"id", p.id},
          {"name", p.name},
          {"status", p.status},
          {"error", p.error},
          {"exit_code", p.exit_code},
          {"parameter_hash", p.parameter_hash},
          {"first_round", p.first_round},
          {"rounds", p.rounds},
          {"steps", p.steps},
          {"samples", p.samples},
          {"train_loss", json_number(p.train_loss)},
          {"test_loss", json_number(p.test_loss)},
          {"test_accuracy", json_number(p.test_accuracy)},
          {"wall_s", p.wall_s},
          {"bytes_sent", p.bytes_sent},
          {"bytes_received", p.bytes_received},
          {"target_reached_s", optional_number(p.target_reached_s)},
          {"left_out", p.left_out},
          {"repairs", p.repairs},
          {"recoveries", p.recoveries},
          {"counted_out", p.counted_out},
          {"dropped", p.dropped},
          {"residuals_lost", p.residuals_lost}};
}

PeerSummary from_json(const ordered_json& j) {
  PeerSummary p;
  p.id = j.at("id");
  p.name = j.at("name");
  p.status = j.at("status");
  p.error = j.at("error");
  p.exit_code = j.at("exit_code");
  p.parameter_hash = j.at("parameter_hash");
  p.first_round = j.at("first_round");
  p.rounds = j.at("rounds");
  p.steps = j.at("steps");
  p.samples = j.at("samples");
  p.train_loss = json_real(j, "train_loss");
  p.test_loss = json_real(j, "test_loss");
  p.test_accuracy = json_real(j, "test_accuracy");
  p.wall_s = j.at("wall_s");
  p.bytes_sent = j.at("bytes_sent");
  p.bytes_received = j.at("bytes_received");
  if (j.at("target_reached_s").is_number()) {
    p.target_reached_s = j.at("target_reached_s").get<double>();
  }
  p.left_out = j.at("left_out");
  p.repairs = j.at("repairs");
  p.recoveries = j.at("recoveries");
  p.counted_out = j.at("counted_out");
  p.dropped = j.at("dropped").get<std::map<std::string, std::uint64_t>>();
  p.residuals_lost = j.at("residuals_lost").get<std::vector<std::string>>();
  return p;
}

/// Mean of the peers' training losses, each weighed alike; those that ended well only.
double train_loss_of(const std::vector<PeerSummary>& peers) {
  double sum = 0;
  double count = 0;
  for (const PeerSummary& p : peers) {
    if ((p.status == "done" || p.status == "stopped") && std::isfinite(p.train_loss)) {
      sum += p.train_loss;
      count += 1;
    }
  }
  return count > 0 ? sum / count : std::nan("");
}

}  // namespace

std::string PeerSummary::json() const { return to_json(*this).dump(); }

Result<PeerSummary> PeerSummary::parse(std::string_view json) {
  try {
    return from_json(ordered_json::parse(json));
  } catch (const nlohmann::json::exception& e) {
    return internal_error(std::string("a peer's summary can't be read: ") + e.what());
  }
}

RunSummary RunSummary::of(std::string name, double wall_s, std::vector<PeerSummary> peers) {
  RunSummary run{std::move(name), "failed", {}, wall_s, std::move(peers)};
  const PeerSummary* best = run.speaker();
  if (best == nullptr) {
    run.error = "no peer took part";
    return run;
  }
  if (best->status == "failed" || best->status == "killed") {
    run.error = best->error.empty() ? "every peer was killed" : best->error;
    return run;
  }
  const std::string ending = best->status;
  run.status = ending;
  for (const PeerSummary& p : run.peers) {
    if (ending != "left" && p.status == ending && p.parameter_hash != best->parameter_hash) {
      run.status = "failed";
      run.error = "the peers " + best->id.substr(0, 8) + " and " + p.id.substr(0, 8) +
                  " ended with different parameters";
    }
  }
  return run;
}

const PeerSummary* RunSummary::speaker() const {
  for (const char* wanted : {"done", "stopped", "left", "failed", "killed"}) {
    const auto it = std::find_if(peers.begin(), peers.end(),
                                 [wanted](const PeerSummary& p) { return p.status == wanted; });
    if (it != peers.end()) {
      return &*it;
    }
  }
  return nullptr;
}

int RunSummary::exit_code() const {
  if (status != "failed") {
    return 0;
  }
  const PeerSummary* p = speaker();
  return p == nullptr || p->exit_code == 0 ? 1 : p->exit_code;
}

std::string RunSummary::json() const {
  const PeerSummary none;
  const PeerSummary& best = speaker() == nullptr ? none : *speaker();
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::optional<double> target;
  ordered_json each = ordered_json::array();
  for (const PeerSummary& p : peers) {
    sent += p.bytes_sent;
    received += p.bytes_received;
    if (p.target_reached_s.has_value() && (!target.has_value() || *p.target_reached_s < *target)) {
      target = p.target_reached_s;
    }
    each.push_back(to_json(p));
  }
  const ordered_json out = {{"schema", kSchema},
                            {"name", name},
                            {"status", status},
                            {"error", error},
                            {"peers", peers.size()},
                            {"wall_s", wall_s},
                            {"virtual_s", nullptr},
                            {"steps", best.steps},
                            {"rounds", best.rounds},
                            {"first_round", best.first_round},
                            {"samples", best.samples},
                            {"train_loss", json_number(train_loss_of(peers))},
                            {"test_loss", json_number(best.test_loss)},
                            {"test_accuracy", json_number(best.test_accuracy)},
                            {"bytes_sent", sent},
                            {"bytes_received", received},
                            {"target_reached_s", optional_number(target)},
                            {"parameter_hash", best.parameter_hash},
                            {"per_peer", std::move(each)}};
  return out.dump(2) + "\n";
}

}  // namespace shoal::node
