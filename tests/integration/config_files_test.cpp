#include <algorithm>
#include <filesystem>

#include "tests/integration/program.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace shoal::node::tests {

TEST_CASE("every file in configs/ passes config check, or says which package its data are in") {
  const Workshop here;
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(shoal::tests::source_path("configs"))) {
    if (entry.path().extension() != ".toml") {
      continue;
    }
    ++count;
    const std::string said = "said-" + std::to_string(count);
    const int code = here.run({"config", "check", entry.path().string()}, said);
    const std::string text = here.text(said);
    INFO(entry.path() << ": " << text);
    // The corpus of char-gpt comes with a package that nothing else needs.
    const bool corpus = entry.path().stem() == "char-gpt";
    const bool absent = code == 3 && text.find("/usr/share/perl") != std::string::npos;
    CHECK((code == 0 || (corpus && absent)));
    CHECK(here.run({"config", "show", entry.path().string()}, said + "-show") == 0);
  }
  CHECK(count >= 4);
}

TEST_CASE("config show: what each key means, in words and for programs") {
  const Workshop here;
  REQUIRE(here.run({"config", "show", "run.toml", "--explain"}, "words") == 0);
  const std::string words = here.text("words");
  REQUIRE(here.run({"config", "show", "run.toml", "--json"}, "json") == 0);
  const auto keys = nlohmann::json::parse(here.text("json"), nullptr, false);
  REQUIRE(keys.is_object());
  CHECK(keys.contains("train.batch"));
  for (const auto& [key, entry] : keys.items()) {
    INFO(key);
    const auto help = entry["help"].get<std::string>();
    CHECK_FALSE(help.empty());
    CHECK_THAT(words, Catch::Matchers::Contains(key + " = ") && Catch::Matchers::Contains(help));
  }
}

}  // namespace shoal::node::tests
