#include <algorithm>
#include <filesystem>
#include <set>

#include "node/config.h"
#include "node/config_build.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace shoal::tests {
namespace {

TEST_CASE("defaults are lawful, whichever plug-ins are chosen") {
  const auto& schema = node::full_schema();
  REQUIRE(node::parse_config(schema, "", "").ok());
  for (const auto& kind : schema.kinds) {
    REQUIRE_FALSE(kind.plugins.empty());
    for (const auto& plugin : kind.plugins) {
      const std::string setting = kind.table + "." + kind.selector + "=" + plugin.name;
      INFO(setting);
      std::vector<std::string> settings = {setting};
      if (const auto* owner = schema.kind(kind.of_kind); owner != nullptr) {
        settings.push_back(owner->table + "." + owner->selector + "=" + kind.of_plugin);
      }
      const auto config = node::parse_config(schema, "", "", {{}, {}, settings});
      INFO((config.ok() ? "" : config.error().message));
      REQUIRE(config.ok());
      CHECK(config->chosen(kind.id) == plugin.name);
      CHECK(config->plugin_options(kind.id).values().size() == plugin.options.size());
      for (const auto& spec : plugin.options) {
        INFO(spec.name);
        CHECK(check_option(spec, spec.default_value).ok());
        CHECK_FALSE(spec.help.empty());
      }
    }
  }
}

TEST_CASE("no key has two meanings") {
  const auto& schema = node::full_schema();
  std::set<std::string> fixed;
  for (const auto& table : schema.tables) {
    for (const auto& spec : table.options) {
      INFO(table.name << "." << spec.name);
      CHECK(fixed.insert(table.name + "." + spec.name).second);
      CHECK_FALSE(spec.help.empty());
    }
  }
  for (const auto& kind : schema.kinds) {
    CHECK(fixed.insert(kind.table + "." + kind.selector).second);
  }
  for (const auto& kind : schema.kinds) {
    std::set<std::string> own;  // plug-ins of one kind may share names, as only one is chosen
    for (const auto& plugin : kind.plugins) {
      for (const auto& spec : plugin.options) {
        own.insert(kind.table + "." + kind.prefix + spec.name);
      }
    }
    for (const auto& key : own) {
      INFO(key);
      CHECK(fixed.insert(key).second);
    }
  }
}

TEST_CASE("every configuration in configs/ is lawful") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("configs"))) {
    if (entry.path().extension() == ".toml") {
      const auto config = node::load_config(node::full_schema(), {entry.path().string(), {}, {}});
      INFO((config.ok() ? "" : config.error().message));
      CHECK(config.ok());
      ++count;
    }
  }
  CHECK(count >= 1);
}

}  // namespace
}  // namespace shoal::tests
