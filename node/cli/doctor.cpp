#include "node/doctor.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "comm/identity.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

struct DoctorArguments {
  std::optional<std::string> file;
};

const char* grade_word(Finding::Grade grade) {
  switch (grade) {
    case Finding::Grade::kGood:
      return "good";
    case Finding::Grade::kNote:
      return "note";
    case Finding::Grade::kProblem:
      return "problem";
  }
  return "problem";
}

void say(const Cli& cli, const std::vector<Finding>& findings) {
  for (const auto& finding : findings) {
    std::string what = finding.what;
    what.resize(std::max<std::size_t>(what.size() + 1, 12), ' ');
    const std::string line = what + finding.sentence +
                             (finding.remedy.empty() ? "" : "\n            -> " + finding.remedy);
    switch (finding.grade) {
      case Finding::Grade::kGood:
        cli.log().info(line);
        break;
      case Finding::Grade::kNote:
        cli.log().warning(line);
        break;
      case Finding::Grade::kProblem:
        cli.log().error(line);
        break;
    }
  }
}

int run_doctor(const Cli& cli, const DoctorArguments& arguments) {
  const auto config = cli.load(arguments.file);
  if (!config.ok()) {
    return cli.fail(config.error());
  }
  const auto findings = examine(*config, comm::home_folder());
  const int code = exit_code_of(findings);
  if (cli.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& finding : findings) {
      rows.push_back({{"what", finding.what},
                      {"grade", grade_word(finding.grade)},
                      {"sentence", finding.sentence},
                      {"remedy", finding.remedy}});
    }
    const nlohmann::json out = {{"ok", code == 0}, {"findings", rows}};
    std::puts(out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    say(cli, findings);
    cli.log().info(code == 0 ? "nothing stops this machine from taking part"
                             : "a peer would stop here; see above");
  }
  return code;
}

Runner declare(CLI::App& app, Cli& /*cli*/) {
  auto arguments = std::make_shared<DoctorArguments>();
  app.add_option("config", arguments->file, "TOML file of the run to take part in");
  return [arguments](const Cli& cli) { return run_doctor(cli, *arguments); };
}

}  // namespace

Command doctor_command() {
  return {"doctor", "what would stop this machine from taking part, and what helps", declare};
}

}  // namespace shoal::node
