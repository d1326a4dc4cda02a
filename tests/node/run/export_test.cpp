#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "node/cli/registry.h"
#include "node/files.h"
#include "node/peer_parts.h"
#include "ops/safetensors.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

// What the files mean to PyTorch and onnxruntime is judged in tests/parity.
namespace shoal::node::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = R"(
[model]
layers = [16, 8, 4]
[data]
name = "synthetic"
train_samples = 64
test_samples = 8
[device]
name = "cpu"
)";

/// A folder as a run leaves it, without the run.
class Folder {
 public:
  Folder() {
    REQUIRE(write_file(path("config.toml"), kConfig).ok());
    const auto config = load_config(full_schema(), {path("config.toml"), {}, {}});
    REQUIRE(config.ok());
    const auto dataset = open_configured_dataset(*config);
    REQUIRE(dataset.ok());
    const auto architecture = configured_architecture(*config, **dataset);
    REQUIRE(architecture.ok());
    const auto values = (*architecture)->initial_parameters(3);
    ops::safetensors::Writer writer;
    for (const auto& p : (*architecture)->map().params()) {
      writer.add(p.name, p.shape, std::span(values).subspan(p.offset, p.elements));
    }
    ByteWriter out;
    writer.write(out);
    model = out.take_bytes();
    REQUIRE(write_file(path("model.safetensors"), model.span()).ok());
  }

  [[nodiscard]] std::string path(const char* name) const { return folder_ / name; }
  int run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"export", folder_.path().string()});
    return run_cli("shoal", words, commands());
  }

  Bytes model;

 private:
  shoal::tests::TempFolder folder_;
};

TEST_CASE("export: safetensors hold the same numbers under PyTorch's names, and can be read back") {
  const Folder folder;
  REQUIRE(folder.run({"--out", folder.path("net.safetensors")}) == 0);
  const auto bytes = read_file(folder.path("net.safetensors"));
  REQUIRE(bytes.ok());
  const auto file = ops::safetensors::parse(bytes->span());
  const auto before = ops::safetensors::parse(folder.model.span());
  REQUIRE((file.ok() && before.ok()));
  CHECK(file->metadata.at("format") == "pt");
  REQUIRE(file->tensors.size() == 4);
  for (const auto& [name, tensor] : before->tensors) {
    INFO(name);
    const auto found = file->tensors.find(name);
    REQUIRE(found != file->tensors.end());
    CHECK(found->second.shape == tensor.shape);
    CHECK(std::equal(tensor.data.begin(), tensor.data.end(), found->second.data.begin(),
                     found->second.data.end()));
  }
  CHECK(file->tensors.at("fc1.weight").shape == std::vector<std::int64_t>{8, 16});
}

TEST_CASE("export: a run is found by its name under run_dir") {
  const Folder folder;
  const fs::path run = folder.path("");
  const std::string name = run.parent_path().filename().string();
  const auto under = [&](const std::string& base) {
    return run_cli("shoal",
                   {"export", name, "--set", "run_dir=" + base, "-o", folder.path("a.onnx")},
                   commands());
  };
  CHECK(under("/nowhere") == 3);
  CHECK(under(run.parent_path().parent_path().string()) == 0);
  CHECK(fs::exists(folder.path("a.onnx")));
}

TEST_CASE("export: ONNX by the ending or by --format") {
  const Folder folder;
  REQUIRE(folder.run({"-o", folder.path("net.onnx")}) == 0);
  REQUIRE(folder.run({"--format", "onnx", "-o", folder.path("net.bin")}) == 0);
  const auto first = read_file(folder.path("net.onnx"));
  const auto second = read_file(folder.path("net.bin"));
  REQUIRE((first.ok() && second.ok()));
  const auto text = [](const Bytes& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  CHECK(text(*first) == text(*second));
  CHECK(text(*first).find("fc2.weight") != std::string_view::npos);
}

TEST_CASE("export: what cannot be done ends with its exit code and leaves no file") {
  const Folder folder;
  CHECK(folder.run({"-o", folder.path("net.bin")}) == 2);
  CHECK(folder.run({"--format", "pickle", "-o", folder.path("net.bin")}) == 2);
  REQUIRE(write_file(folder.path("model.safetensors"), "no model").ok());
  CHECK(folder.run({"-o", folder.path("net.onnx")}) == 3);
  fs::remove(folder.path("model.safetensors"));
  REQUIRE(::mkfifo(folder.path("model.safetensors").c_str(), 0600) == 0);
  CHECK(folder.run({"-o", folder.path("net.onnx")}) == 3);
  CHECK_FALSE(fs::exists(folder.path("net.bin")));
  CHECK_FALSE(fs::exists(folder.path("net.onnx")));
}

}  // namespace
}  // namespace shoal::node::tests
