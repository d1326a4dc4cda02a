#include "node/shared_state.h"

#include <charconv>
#include <utility>

#include "ops/safetensors.h"

namespace shoal::node {
namespace {

namespace st = ops::safetensors;

constexpr const char* kOptimizer = "shoal.optimizer";
constexpr const char* kLedger = "shoal.ledger";
constexpr const char* kCodec = "shoal.codec";

std::span<const float> part(std::span<const float> array, std::uint64_t offset,
                            std::uint64_t elements) {
  return array.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(elements));
}

void add_arrays(st::Writer& writer, const ParamMap& map, std::span<const float> parameters,
                std::span<const float> buffers) {
  for (const Param& p : map.params()) {
    writer.add(p.name, p.shape, part(parameters, p.offset, p.elements));
  }
  for (const Buffer& b : map.buffers()) {
    if (b.policy != BufferPolicy::kKeepLocal) {
      writer.add(b.name, b.shape, part(buffers, b.offset, b.elements));
    }
  }
}

Result<ModelValues> read_arrays(const ops::Architecture& architecture, const st::File& file) {
  const ParamMap& map = architecture.map();
  ModelValues values{std::vector<float>(map.flat_size()), architecture.initial_buffers()};
  for (const Param& p : map.params()) {
    SHOAL_TRY(file.read_f32(
        p.name, p.shape,
        std::span(values.parameters)
            .subspan(static_cast<std::size_t>(p.offset), static_cast<std::size_t>(p.elements))));
  }
  for (const Buffer& b : map.buffers()) {
    if (b.policy != BufferPolicy::kKeepLocal) {
      SHOAL_TRY(file.read_f32(
          b.name, b.shape,
          std::span(values.buffers)
              .subspan(static_cast<std::size_t>(b.offset), static_cast<std::size_t>(b.elements))));
    }
  }
  return values;
}

Status read_number(const st::File& file, const char* key, std::uint64_t& out) {
  const auto it = file.metadata.find(key);
  if (it == file.metadata.end()) {
    return data_error(std::string("the state has no \"") + key + "\"");
  }
  const std::string& text = it->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return data_error(std::string("the state's \"") + key + "\" is no number: " + text);
  }
  return {};
}

Result<ByteReader> blob(const st::File& file, const char* name) {
  const auto it = file.tensors.find(name);
  if (it == file.tensors.end() || it->second.dtype != "U8") {
    return data_error(std::string("the state has no ") + name);
  }
  return ByteReader(it->second.data);
}

}  // namespace

SharedState::SharedState(const StateBuilder& builder, Ledger ledger_in)
    : architecture_(builder.architecture),
      backend_(builder.backend),
      ledger(std::move(ledger_in)) {}

Result<std::shared_ptr<SharedState>> SharedState::fresh(const StateBuilder& builder) {
  std::shared_ptr<SharedState> state(
      new SharedState(builder, Ledger(builder.samples, builder.epochs)));
  state->parameters = builder.architecture->initial_parameters(builder.seed);
  state->buffers = builder.architecture->initial_buffers();
  SHOAL_ASSIGN(state->optimizer,
               builder.strategy->shared_optimizer(*builder.backend, builder.architecture->space()));
  return state;
}

Result<std::shared_ptr<SharedState>> SharedState::load(const StateBuilder& builder,
                                                       ByteSpan bytes) {
  SHOAL_ASSIGN(const st::File file, st::parse(bytes));
  SHOAL_ASSIGN(ModelValues values, read_arrays(*builder.architecture, file));
  SHOAL_ASSIGN(ByteReader ledger_bytes, blob(file, kLedger));
  SHOAL_ASSIGN(Ledger ledger, Ledger::load(ledger_bytes));
  if (ledger.samples() != builder.samples || ledger.epochs() != builder.epochs) {
    return data_error("the state belongs to a run over " + std::to_string(ledger.samples()) +
                      " samples and " + std::to_string(ledger.epochs()) + " epochs, not " +
                      std::to_string(builder.samples) + " and " + std::to_string(builder.epochs));
  }
  std::shared_ptr<SharedState> state(new SharedState(builder, std::move(ledger)));
  state->parameters = std::move(values.parameters);
  state->buffers = std::move(values.buffers);
  SHOAL_ASSIGN(state->optimizer,
               builder.strategy->shared_optimizer(*builder.backend, builder.architecture->space()));
  SHOAL_ASSIGN(ByteReader optimizer_bytes, blob(file, kOptimizer));
  SHOAL_TRY(state->optimizer->load(optimizer_bytes));
  SHOAL_TRY(read_number(file, "round", state->progress.round));
  SHOAL_TRY(read_number(file, "steps", state->progress.steps));
  SHOAL_TRY(read_number(file, "samples", state->progress.samples));
  SHOAL_TRY(read_number(file, "barren", state->progress.barren));
  return state;
}

Result<ByteSpan> SharedState::codec_state_in(ByteSpan bytes) {
  SHOAL_ASSIGN(const st::File file, st::parse(bytes));
  if (!file.tensors.contains(kCodec)) {
    return ByteSpan();
  }
  SHOAL_ASSIGN(const ByteReader state, blob(file, kCodec));
  return state.rest();
}

Bytes SharedState::save(const std::map<std::string, std::string>& metadata,
                        ByteSpan codec_state) const {
  ByteWriter optimizer_bytes;
  optimizer->save(optimizer_bytes);
  ByteWriter ledger_bytes;
  ledger.save(ledger_bytes);
  st::Writer writer;
  add_arrays(writer, architecture_->map(), parameters, buffers);
  writer.add_bytes(kOptimizer, optimizer_bytes.span());
  writer.add_bytes(kLedger, ledger_bytes.span());
  if (!codec_state.empty()) {
    writer.add_bytes(kCodec, codec_state);
  }
  writer.set_metadata("round", std::to_string(progress.round));
  writer.set_metadata("steps", std::to_string(progress.steps));
  writer.set_metadata("samples", std::to_string(progress.samples));
  writer.set_metadata("barren", std::to_string(progress.barren));
  for (const auto& [key, value] : metadata) {
    writer.set_metadata(key, value);
  }
  ByteWriter out;
  writer.write(out);
  return out.take_bytes();
}

Bytes SharedState::save_model() const {
  st::Writer writer;
  add_arrays(writer, architecture_->map(), parameters, buffers);
  writer.set_metadata("format", "shoal");
  writer.set_metadata("parameter_hash", parameter_hash().hex());
  ByteWriter out;
  writer.write(out);
  return out.take_bytes();
}

Hash256 SharedState::parameter_hash() const {
  return shoal::parameter_hash(architecture_->map(), parameters, buffers);
}

Result<ModelValues> load_model(const ops::Architecture& architecture, ByteSpan bytes) {
  SHOAL_ASSIGN(const st::File file, st::parse(bytes));
  return read_arrays(architecture, file);
}

}  // namespace shoal::node
