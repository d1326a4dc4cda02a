#include "ops/onnx/export.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "node/cli/arguments.h"
#include "node/files.h"
#include "node/run/saved_model.h"
#include "ops/safetensors.h"

namespace shoal::node {
namespace {

struct Exported {
  std::string model;
  std::string format;
  std::size_t bytes = 0;
};

/// Errors: kConfig when neither --format nor the ending of the file says it.
Result<std::string> format_of(const ExportArguments& arguments) {
  if (arguments.format.has_value()) {
    return *arguments.format;
  }
  const std::string ending = std::filesystem::path(arguments.out).extension().string();
  if (ending == ".safetensors" || ending == ".onnx") {
    return ending.substr(1);
  }
  return config_error("the name " + arguments.out +
                      " does not say which format is meant; add --format safetensors or --format "
                      "onnx");
}

/// Every tensor under PyTorch's name, running statistics too, and nothing else.
Bytes as_safetensors(const SavedModel& model) {
  const ParamMap& map = model.architecture->map();
  ops::safetensors::Writer writer;
  const auto values = [](const auto& entry, const std::vector<float>& array) {
    return std::span(array).subspan(static_cast<std::size_t>(entry.offset),
                                    static_cast<std::size_t>(entry.elements));
  };
  for (const Param& param : map.params()) {
    writer.add(param.name, param.shape, values(param, model.values.parameters));
  }
  for (const Buffer& buffer : map.buffers()) {
    const auto array = values(buffer, model.values.buffers);
    if (buffer.name.ends_with(".num_batches_tracked")) {  // batch norm's, an integer in PyTorch
      writer.add_counter(buffer.name, static_cast<std::int64_t>(array[0]));
    } else {
      writer.add(buffer.name, buffer.shape, array);
    }
  }
  writer.set_metadata("format", "pt");  // what loaders of PyTorch look for
  ByteWriter out;
  writer.write(out);
  return out.take_bytes();
}

void warn_of_local_buffers(const Cli& cli, const ParamMap& map) {
  for (const Buffer& buffer : map.buffers()) {
    if (buffer.policy == BufferPolicy::kKeepLocal) {
      cli.log().warning("peers of this run kept their running statistics to themselves; " +
                        buffer.name + " and its like are exported as they were before training");
      return;
    }
  }
}

Result<Exported> run(const Cli& cli, const ExportArguments& arguments) {
  SHOAL_ASSIGN(const std::string format, format_of(arguments));
  SHOAL_ASSIGN(const SavedModel model, open_model(cli, arguments.model, arguments.config));
  Bytes bytes;
  if (format == "onnx") {
    SHOAL_ASSIGN(bytes, ops::onnx::export_model(*model.architecture, model.config.chosen("model"),
                                                model.values.parameters, model.values.buffers));
  } else {
    bytes = as_safetensors(model);
  }
  warn_of_local_buffers(cli, model.architecture->map());
  SHOAL_TRY(write_file(arguments.out, bytes.span()));
  return Exported{model.path.string(), format, bytes.size()};
}

}  // namespace

int run_export(const Cli& cli, const ExportArguments& arguments) {
  const auto exported = run(cli, arguments);
  if (!exported.ok()) {
    return cli.fail(exported.error());
  }
  cli.log().info(exported->model + " is now " + arguments.out + " (" + exported->format + ", " +
                 std::to_string(exported->bytes) + " bytes)");
  if (cli.json) {
    const nlohmann::ordered_json out = {{"model", exported->model},
                                        {"out", arguments.out},
                                        {"format", exported->format},
                                        {"bytes", exported->bytes}};
    std::puts(out.dump().c_str());
  }
  return 0;
}

}  // namespace shoal::node
