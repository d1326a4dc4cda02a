#include "node/config_schema.h"

#include <utility>

#include "comm/limits.h"

namespace shoal::node {
namespace {

OptionSpec flag_key(std::string name, bool value, Scope scope, std::string help) {
  return {std::move(name), OptionType::kBool, value, std::move(help), {}, {}, {}, scope};
}

OptionSpec int_key(std::string name, std::int64_t value, double minimum, double maximum,
                   Scope scope, std::string help) {
  return {std::move(name), OptionType::kInt, value, std::move(help), minimum, maximum, {}, scope};
}

OptionSpec float_key(std::string name, double value, double minimum, double maximum, Scope scope,
                     std::string help) {
  return {std::move(name), OptionType::kFloat, value, std::move(help), minimum, maximum, {}, scope};
}

OptionSpec text_key(std::string name, std::string value, Scope scope, std::string help,
                    std::vector<std::string> choices = {}) {
  return {std::move(name),
          OptionType::kString,
          std::move(value),
          std::move(help),
          {},
          {},
          std::move(choices),
          scope};
}

OptionSpec list_key(std::string name, Scope scope, std::string help) {
  return {std::move(name),
          OptionType::kStringList,
          std::vector<std::string>{},
          std::move(help),
          {},
          {},
          {},
          scope};
}

OptionSpec time_key(std::string name, Duration value, double minimum, Scope scope,
                    std::string help) {
  return {std::move(name), OptionType::kDuration, value, std::move(help), minimum, 1e8, {}, scope};
}

TableSpec top_keys() {
  return {
      "",
      "",
      {
          int_key("seed", 1, 0, 9e15, Scope::kRun, "start of all randomness of the run"),
          text_key("name", "run", Scope::kRun, "name of the run and of its folder under run_dir"),
          text_key("run_dir", "runs", Scope::kPeer, "folder that run folders are made in"),
      }};
}

TableSpec train_keys(const std::vector<OptionSpec>& schedule) {
  TableSpec table{
      "train",
      "how long and with what",
      {
          int_key(
              "batch", 64, 1, 1 << 24, Scope::kRun,
              "samples of one step: of the whole view under allreduce, of one peer under local"),
          int_key("micro_batch", kMicroBatch, 1, 1 << 24, Scope::kPeer,
                  "samples of one pass at most, gradients are summed up to the batch; auto: as "
                  "many as fit limits.memory"),
          list_key("recompute", Scope::kPeer,
                   "layers that are computed again instead of remembered, by name; true: all that "
                   "can be; auto: as few as limits.memory asks for"),
          int_key("epochs", 10, 1, 1e6, Scope::kRun, "times that each sample is seen"),
          int_key("steps_max", 0, 0, 1e12, Scope::kRun, "stop after so many steps; 0: no bound"),
          float_key("target_accuracy", 0, 0, 1, Scope::kRun,
                    "stop once test accuracy reaches it; 0: don't"),
          float_key("target_loss", 0, 0, 1e9, Scope::kRun,
                    "stop once test loss is below; 0: don't"),
      }};
  table.words["micro_batch"] = {{"auto", std::string("auto")}};
  table.words["recompute"] = {
      {"auto", std::string("auto")}, {"true", true}, {"false", std::vector<std::string>{}}};
  table.options.insert(table.options.end(), schedule.begin(), schedule.end());
  return table;
}

std::vector<TableSpec> shared_tables(const std::vector<OptionSpec>& schedule) {
  return {
      top_keys(),
      {"run",
       "promises of the run",
       {
           flag_key("reproducible", false, Scope::kRun,
                    "wait for every member that is not proved dead, fixed codec, fixed costs"),
       }},
      {"model", "what is trained", {}},
      {"data",
       "what it is trained on",
       {
           text_key("mode", "shared", Scope::kRun,
                    "shared: one order of all samples for everybody; private: each its own part",
                    {"shared", "private"}),
           int_key("parts", 0, 0, comm::limits::kPeersMax, Scope::kRun,
                   "parts that private mode cuts the samples into; 0: swarm.peers"),
           int_key("part", 0, 0, comm::limits::kPeersMax - 1.0, Scope::kPeer,
                   "which of them is this peer's, from 0"),
       }},
      train_keys(schedule),
      {"sync",
       "when and how peers exchange",
       {
           text_key("quorum", "majority", Scope::kRun,
                    "who may go on after a split: more than half, or any part",
                    {"majority", "any"}),
       }},
      {"compress", "how what they exchange is encoded", {}},
  };
}

std::vector<TableSpec> peer_tables() {
  return {
      {"swarm",
       "who takes part, and where this peer is found",
       {
           int_key("peers", 4, 1, comm::limits::kMembersMax, Scope::kRun,
                   "members that the run waits for before it starts"),
           int_key("port", 47700, 0, 65535, Scope::kPeer, "port to listen on; 0: any free one"),
           text_key("listen", "::", Scope::kPeer, "numeric address to listen on; \"::\": all"),
           list_key("announce", Scope::kPeer,
                    "addresses told to others, host or host:port; none: found by the route"),
           list_key("roster", Scope::kPeer,
                    "peers of a run without invitations, key@host:port each; see shoal keygen"),
           text_key("name", "", Scope::kPeer, "what people call this peer; empty: host name"),
       }},
      {"device",
       "what this peer computes on",
       {
           text_key("name", "auto", Scope::kPeer, "auto: a CUDA device if one works, else the CPU",
                    {"auto", "cpu", "cuda"}),
           int_key("blas_threads", 1, 1, 1024, Scope::kPeer, "threads of OpenBLAS"),
           flag_key("tf32", false, Scope::kPeer,
                    "whether a GPU may round factors of products to ten bits, which is faster"),
       }},
      {"limits",
       "what this peer gives at most",
       {
           text_key("rate_up", "0", Scope::kPeer, "rate of sending, \"20Mbit/s\"; 0: no limit"),
           text_key("rate_down", "0", Scope::kPeer, "rate of receiving; 0: no limit"),
           float_key("cores", 0, 0, 4096, Scope::kPeer,
                     "CPUs it is bound to; 0.5: one, computing half of the time; 0: no limit"),
           text_key("memory", "0", Scope::kPeer, "main memory, \"2GiB\"; 0: no limit"),
           float_key("gpu_share", 1, 0.01, 1, Scope::kPeer,
                     "share of its time that a GPU computes"),
           text_key("hours", "", Scope::kPeer,
                    "hours of the local day it works in, \"22-7\", out of the run between them; "
                    "empty: always"),
       }},
      {"checkpoint",
       "what outlives a crash",
       {
           time_key("every", std::chrono::minutes(5), 0, Scope::kPeer,
                    "time between checkpoints; 0s: only at the end"),
       }},
      {"output",
       "what is written down",
       {
           time_key("metrics_every", std::chrono::seconds(1), 0.01, Scope::kPeer,
                    "time between lines of metrics.jsonl and of the live table"),
       }},
  };
}

std::vector<PluginKind> kinds_of(Plugins plugins) {
  std::vector<PluginKind> kinds;
  kinds.push_back({"model", "model", "name", "", "the model", "mlp", "", Scope::kRun, false,
                   std::move(plugins.models)});
  kinds.push_back({"data", "data", "name", "", "the data set", "fashion-mnist", "", Scope::kRun,
                   false, std::move(plugins.datasets)});
  kinds.push_back({"partition", "data", "partition", "partition_",
                   "how private mode cuts the samples", "iid", "", Scope::kRun, false,
                   std::move(plugins.partitions)});
  kinds.push_back({"optimizer", "train", "optimizer", "", "the rule of a local step", "sgd", "",
                   Scope::kRun, false, std::move(plugins.optimizers)});
  kinds.push_back({"sync", "sync", "name", "", "the strategy", "allreduce", "", Scope::kRun, false,
                   std::move(plugins.strategies)});
  kinds.push_back({"outer", "sync", "outer", "outer_",
                   "the rule that moves the common parameters along a round's mean", "sgd", "",
                   Scope::kRun, false, std::move(plugins.outer_optimizers), "sync", "local"});
  kinds.push_back({"codec", "compress", "codec", "", "what this peer sends", "fp32", "",
                   Scope::kPeer, true, plugins.codecs});
  kinds.push_back({"answer", "compress", "answer", "answer_",
                   "what owners answer everybody; same: as compress.codec", std::string(kSame),
                   "codec", Scope::kRun, true, std::move(plugins.codecs)});
  return kinds;
}

}  // namespace

const PluginKind* Schema::kind(std::string_view id) const {
  for (const auto& kind : kinds) {
    if (kind.id == id) {
      return &kind;
    }
  }
  return nullptr;
}

Schema make_schema(Plugins plugins) {
  Schema schema;
  schema.tables = shared_tables(plugins.schedule);
  auto peer = peer_tables();
  schema.tables.insert(schema.tables.end(), std::make_move_iterator(peer.begin()),
                       std::make_move_iterator(peer.end()));
  schema.kinds = kinds_of(std::move(plugins));
  return schema;
}

}  // namespace shoal::node
