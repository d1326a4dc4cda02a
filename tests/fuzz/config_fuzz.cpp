// Any text as a configuration file: refused in words, or a configuration whose effective text and
// run keys are read back to the same values.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/config.h"
#include "ops/base/check.h"

using namespace shoal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& schema = node::full_schema();
  static const auto defaults = node::parse_config(schema, "", "defaults.toml");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = node::parse_config(schema, text, "fuzz.toml");
  node::Config offered = *defaults;  // the same bytes from a peer that says they are its run's keys
  (void)offered.apply_run_keys(text).ok();
  if (!config.ok()) {
    SHOAL_CHECK(config.error().code == Code::kConfig && !config.error().message.empty(),
                "a configuration is refused in words");
    return 0;
  }
  const auto again = node::parse_config(schema, config->effective(), "again.toml");
  SHOAL_CHECK(again.ok() && again->run_keys() == config->run_keys(),
              "the effective configuration is read back");
  node::Config joiner = *defaults;
  SHOAL_CHECK(joiner.apply_run_keys(config->run_keys()).ok() &&
                  joiner.run_keys_hash() == config->run_keys_hash(),
              "a joiner takes the run's keys");
  return 0;
}
