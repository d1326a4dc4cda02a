#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/cli/cli.h"

/// The arguments of each command as parsed, and the function that does it. Commands whose body is
/// more than a page have it elsewhere in node/; only the parsing lies in cli/.
namespace shoal::node {

struct UpArguments {
  std::string config;                   ///< path of a TOML file
  std::optional<std::int64_t> members;  ///< --peers: processes to start here (swarm.peers: the run)
  bool resume = false;                  ///< go on from the newest checkpoint of the run folder
};
int run_up(const Cli& cli, const UpArguments& arguments);

/// The hidden command behind `up`.
struct PeerArguments {
  std::string config;
  std::string run_folder;
  std::size_t index = 0;
  std::optional<std::uint64_t> resume_round;  ///< that `up` found; it starts all peers of the run
  bool resume = false;                        ///< the round is agreed on with peers elsewhere
  bool invites = false;
  bool patient = false;
};
int run_peer(const Cli& cli, const PeerArguments& arguments);

struct JoinArguments {
  std::string target;                 ///< an invitation token, or the path of a TOML file
  std::optional<std::string> config;  ///< --config: peer keys of this machine beside a token
  bool yes = false;                   ///< don't ask before joining
  bool resume = false;
};
int run_join(const Cli& cli, const JoinArguments& arguments);

struct InviteArguments {
  std::optional<std::string> run;  ///< run folder; the newest under run_dir when left out
};
int run_invite(const Cli& cli, const InviteArguments& arguments);

struct PauseArguments {
  std::optional<std::string> run;  ///< run folder or name; the newest under run_dir when left out
  bool pause = true;               ///< false: go on
};
int run_pause(const Cli& cli, const PauseArguments& arguments);

struct EvalArguments {
  std::string model;                  ///< model.safetensors, or a run folder
  std::optional<std::string> config;  ///< the run's config.toml beside it when left out
};
int run_eval(const Cli& cli, const EvalArguments& arguments);

struct ExportArguments {
  std::string model;                  ///< as EvalArguments
  std::optional<std::string> config;  ///< as EvalArguments
  std::optional<std::string> format;  ///< "safetensors" or "onnx"; the ending of `out` if left out
  std::string out;
};
int run_export(const Cli& cli, const ExportArguments& arguments);

}  // namespace shoal::node
