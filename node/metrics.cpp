#include "node/metrics.h"

#include <cmath>
#include <fstream>
#include <utility>

#include "node/json.h"

namespace shoal::node {
namespace {

using nlohmann::ordered_json;

double per_second(double amount, double interval) { return interval > 0 ? amount / interval : 0; }

Status append(const std::filesystem::path& file, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out << text;
  out.flush();
  return out ? Status() : data_error("can't write " + file.string());
}

}  // namespace

std::string PeerStatus::json() const {
  return ordered_json{{"state", state},
                      {"step", step},
                      {"round", round},
                      {"epoch", epoch},
                      {"loss", json_number(loss)},
                      {"samples_per_s", json_number(samples_per_s)},
                      {"sent_per_s", json_number(sent_per_s)},
                      {"received_per_s", json_number(received_per_s)},
                      {"members", members}}
      .dump();
}

Result<PeerStatus> PeerStatus::parse(std::string_view json) {
  try {
    const auto j = ordered_json::parse(json);
    PeerStatus s;
    s.state = j.at("state");
    s.step = j.at("step");
    s.round = j.at("round");
    s.epoch = json_real(j, "epoch");
    s.loss = json_real(j, "loss");
    s.samples_per_s = json_real(j, "samples_per_s");
    s.sent_per_s = json_real(j, "sent_per_s");
    s.received_per_s = json_real(j, "received_per_s");
    s.members = j.at("members");
    return s;
  } catch (const nlohmann::json::exception& e) {
    return internal_error(std::string("a peer's status can't be read: ") + e.what());
  }
}

Metrics::Metrics(comm::Loop& loop, std::filesystem::path file, MetricSources sources)
    : loop_(loop),
      file_(std::move(file)),
      sources_(std::move(sources)),
      start_(loop.now()),
      interval_start_(start_) {}

void Metrics::line(const std::string& text) { pending_ += text + "\n"; }

void Metrics::round(const RoundReport& report, const std::string& hash) {
  if (report.epoch != last_.epoch) {
    last_epoch_ = this_epoch_;
    this_epoch_ = {};
  }
  this_epoch_ += report.result;
  if (report.epoch == 0) {
    last_epoch_ = this_epoch_;
  }
  interval_ += report.result;
  times_.compute += report.compute;
  times_.rest += report.rest;
  times_.exchange += report.exchange;
  times_.codec += report.codec;
  times_.apply += report.apply;
  counted_out_ += report.counted_out ? 1 : 0;
  ++rounds_;
  last_ = report;
  if (!hash.empty()) {
    last_hash_ = hash;
  }
}

void Metrics::epoch(const EpochReport& report) {
  line(ordered_json{{"event", "epoch"},
                    {"t", since_start()},
                    {"epoch", report.epoch},
                    {"test_loss", json_number(report.test_loss)},
                    {"test_accuracy", json_number(report.test_accuracy)}}
           .dump());
}

void Metrics::event(std::string_view kind, std::string_view sentence) {
  line(ordered_json{{"event", kind}, {"t", since_start()}, {"text", sentence}}.dump());
}

PeerStatus Metrics::tick(const std::string& state) {
  const comm::LinkStats totals = sources_.totals();
  const double interval = seconds(loop_.now() - interval_start_);
  PeerStatus status;
  status.state = state;
  status.step = last_.progress.steps;
  status.round = last_.progress.round;
  status.epoch = static_cast<double>(last_.epoch);
  status.loss = interval_.samples > 0 ? interval_.mean_loss() : std::nan("");
  status.samples_per_s = per_second(static_cast<double>(interval_.samples), interval);
  status.sent_per_s =
      per_second(static_cast<double>(totals.bytes_sent - interval_totals_.bytes_sent), interval);
  status.received_per_s = per_second(
      static_cast<double>(totals.bytes_received - interval_totals_.bytes_received), interval);
  status.members = last_.record.next_view.size();
  if (rounds_ > 0) {
    const comm::GroupStats group = sources_.group();
    ordered_json j = {{"event", "rounds"},
                      {"t", since_start()},
                      {"round", status.round},
                      {"step", status.step},
                      {"rounds", rounds_},
                      {"loss", json_number(status.loss)},
                      {"samples", interval_.samples},
                      {"samples_per_s", status.samples_per_s},
                      {"bytes_sent", totals.bytes_sent},
                      {"bytes_received", totals.bytes_received},
                      {"rtt_s", seconds(sources_.round_trip())},
                      {"compute_s", seconds(times_.compute)},
                      {"rest_s", seconds(times_.rest)},
                      {"exchange_s", seconds(times_.exchange)},
                      {"codec_s", seconds(times_.codec)},
                      {"wait_s", seconds(times_.exchange - times_.codec)},
                      {"apply_s", seconds(times_.apply)},
                      {"members", status.members},
                      {"left_out", group.left_out},
                      {"repairs", group.repairs},
                      {"refused", group.refused},
                      {"encoded", group.encoded},
                      {"counted_out", counted_out_},
                      {"dropped", sources_.dropped()}};
    if (group.achieved_s > 0) {  // codecs are picked by cost
      j["predicted_s"] = group.predicted_s;
      j["achieved_s"] = group.achieved_s;
    }
    if (!last_hash_.empty()) {
      j["parameter_hash"] = std::exchange(last_hash_, {});
    }
    line(j.dump());
  }
  interval_start_ = loop_.now();
  interval_totals_ = totals;
  interval_ = {};
  times_ = {};
  rounds_ = 0;
  return status;
}

comm::Task<Status> Metrics::flush() {
  if (pending_.empty()) {
    co_return Status();
  }
  auto job = [file = file_, text = std::exchange(pending_, {})] { return append(file, text); };
  co_return co_await loop_.offload(comm::Offload::kIo, job, Duration{0});
}

}  // namespace shoal::node
