#pragma once

#include "node/cli/cli.h"

/// One function a file of this folder, called by the registry alone.
namespace shoal::node {

Command up_command();
Command peer_command();
Command join_command();
Command invite_command();
Command pause_command();
Command resume_command();
Command keygen_command();
Command config_command();
Command eval_command();
Command export_command();
Command bench_command();
Command plan_command();
Command doctor_command();

}  // namespace shoal::node
