#include <cmath>

#include "ops/model.h"
#include "ops/optim/optimizer.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

// Models over tokens, with tied weights: what single layers cannot show.
namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;

std::shared_ptr<const Architecture> architecture(
    const char* name, std::int64_t length, std::int64_t classes,
    const std::vector<std::pair<std::string, OptionValue>>& chosen) {
  auto options = Options::defaults(find_model(name).value()->options);
  for (const auto& [key, value] : chosen) {
    options.set(key, value);
  }
  return *make_architecture(name, options, {{length}, true}, classes);
}

std::shared_ptr<const Architecture> small_gpt(bool tied) {
  return architecture("gpt", 5, 7,
                      {{"depth", std::int64_t{2}},
                       {"width", std::int64_t{6}},
                       {"heads", std::int64_t{2}},
                       {"context", std::int64_t{8}},
                       {"tied", tied}});
}

struct Texts {
  std::vector<std::int32_t> x;
  std::vector<std::int32_t> y;
  std::int64_t count;
  std::int64_t length;

  Texts(std::int64_t count_in, std::int64_t length_in, std::uint64_t below, Rng rng)
      : count(count_in), length(length_in) {
    for (std::int64_t i = 0; i < count * length; ++i) {
      x.push_back(static_cast<std::int32_t>(rng.below(below)));
      y.push_back(static_cast<std::int32_t>(rng.below(below)));
    }
  }
  [[nodiscard]] ConstTensorView in() const { return host_view(x.data(), {count, length}); }
  [[nodiscard]] ConstTensorView targets() const { return host_view(y.data(), {count, length}); }
};

TEST_CASE("gradients of a transformer, tied or not, agree with finite differences of its loss") {
  const auto backend = make_reference_backend();
  for (const bool tied : {false, true}) {
    const auto model = *Model::make(small_gpt(tied), *backend, test_seed(70));
    const Texts texts(3, 5, 7, Rng(test_seed(70), 1));
    // Micro-batches add to what was put, a tied weight's too.
    for (const auto into : {Into::kReplace, Into::kAdd, Into::kReplace}) {
      REQUIRE(model->train_batch({}, texts.in(), texts.targets(), 0.5, into).ok());
    }
    auto values = model->parameters().view().span<double>();
    const auto view = model->gradients().view().span<double>();
    const std::vector<double> gradient(view.begin(), view.end());
    constexpr double kStep = 1e-7;
    for (const auto& param : model->map().params()) {
      INFO(param.name << (tied ? " tied" : ""));
      for (std::uint64_t e = 0; e < param.elements; e += 5) {
        const auto i = static_cast<std::size_t>(param.offset + e);
        const double kept = values[i];
        values[i] = kept + kStep;
        const double above = model->evaluate_batch(texts.in(), texts.targets())->loss_sum;
        values[i] = kept - kStep;
        const double below = model->evaluate_batch(texts.in(), texts.targets())->loss_sum;
        values[i] = kept;
        // Embeddings start at 0.02 and are normalised, so third derivatives reach 1 / 0.02^3: with
        // h = 1e-7 truncation is 1e-9, and rounding of a sum of 15 below 3 is 1e-14 / h.
        REQUIRE(std::abs(0.5 * (above - below) / (2 * kStep) - gradient[i]) < 1e-6);
      }
    }
  }
}

TEST_CASE("micro-batches of a tied model add up to the batch") {
  const auto backend = make_reference_backend();
  const auto model = *Model::make(small_gpt(true), *backend, 3);
  const Texts texts(4, 5, 7, Rng(test_seed(71), 1));
  REQUIRE(model->train_batch({}, texts.in(), texts.targets(), 0.25, Into::kReplace).ok());
  const auto view = model->gradients().view().span<double>();
  const std::vector<double> whole(view.begin(), view.end());
  for (const std::size_t first : {std::size_t{0}, std::size_t{2}}) {
    const auto part = [first](const ConstTensorView& all) {
      return all.slice(first * 5, 10).reshape({2, 5});
    };
    REQUIRE(model
                ->train_batch({}, part(texts.in()), part(texts.targets()), 0.25,
                              first == 0 ? Into::kReplace : Into::kAdd)
                .ok());
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    REQUIRE(view[i] == Approx(whole[i]).epsilon(1e-11).margin(1e-13));  // another order of sums
  }
}

TEST_CASE("a tied model has fewer parameters, one start and the same names") {
  const auto tied = small_gpt(true);
  const auto apart = small_gpt(false);
  CHECK(tied->map().parameter_count() + 7 * 6 == apart->map().parameter_count());
  CHECK(tied->map().params().size() == apart->map().params().size());
  const auto* head = tied->map().find("head.weight");
  const auto* embedding = tied->map().find("wte.weight");
  REQUIRE((head != nullptr && embedding != nullptr));
  CHECK(head->offset == embedding->offset);
  const auto backend = make_cpu_backend();
  const auto model = *Model::make(tied, *backend, 9);
  const auto start = tied->initial_parameters(9);
  const auto values = model->parameters().host();
  CHECK(std::equal(values.begin(), values.end(), start.begin(), start.end()));
  // A slice that holds the head alone starts as the whole does.
  const std::size_t layers = tied->nodes().size();
  const auto end = *Model::make_slice(tied, layers - 1, layers, *backend, 9);
  std::vector<float> a(42), b(42);
  model->parameters().read({head->offset, head->offset + 42}, a);
  end->parameters().read({head->offset, head->offset + 42}, b);
  CHECK(a == b);
}

TEST_CASE("a transformer has as many parameters as its sizes say, under PyTorch's names") {
  const auto gpt = architecture("gpt", 64, 65, {{"tied", false}});
  const std::uint64_t d = 128;
  const std::uint64_t block = 4 * d + (3 * d * d + 3 * d) + (d * d + d) + (8 * d * d + 5 * d);
  CHECK(gpt->map().parameter_count() == 65 * d + 64 * d + 4 * block + 2 * d + 65 * d);
  for (const char* name :
       {"wte.weight", "wpe.weight", "layers.0.norm1.weight", "layers.3.self_attn.in_proj_weight",
        "layers.3.self_attn.out_proj.bias", "layers.1.linear1.weight", "layers.1.linear2.bias",
        "norm.bias", "head.weight"}) {
    INFO(name);
    CHECK(gpt->map().find(name) != nullptr);
  }
  CHECK(gpt->output().shape == Shape{64, 65});
  // McMahan et al. say 866,578; PyTorch's LSTM has two biases for each gate instead of one.
  const auto lstm = architecture("char_lstm", 80, 256, {});
  CHECK(lstm->map().parameter_count() ==
        256 * 8 + 1024 * (8 + 256 + 2) + 1024 * (256 + 256 + 2) + 256 * 257);
  CHECK(lstm->map().find("lstm.weight_hh_l1") != nullptr);
}

TEST_CASE("models over tokens learn, in float32 as in float64, dropout included") {
  const auto cpu = make_cpu_backend();
  const auto exact = make_reference_backend();
  const std::pair<const char*, std::vector<std::pair<std::string, OptionValue>>> cases[] = {
      {"gpt", {{"depth", std::int64_t{1}}, {"width", std::int64_t{16}}, {"dropout", 0.1}}},
      {"gpt", {{"depth", std::int64_t{2}}, {"width", std::int64_t{20}}}},
      {"char_lstm", {{"hidden", std::int64_t{19}}}}};
  for (const auto& [name, chosen] : cases) {
    INFO(name);
    const auto made = architecture(name, 9, 6, chosen);
    const auto model = *Model::make(made, *cpu, 5);
    const auto reference = *Model::make(made, *exact, 5);
    const Texts texts(4, 9, 6, Rng(test_seed(72), 1));
    const auto options = Options::defaults(find_optimizer("sgd").value()->options);
    const auto sgd = *make_optimizer("sgd", options, *cpu, model->parameters().space());
    const auto sgd64 = *make_optimizer("sgd", options, *exact, reference->parameters().space());
    double first = 0;
    double last = 0;
    for (std::uint64_t step = 0; step < 100; ++step) {
      const PassInfo info{Mode::kTrain, step, 0};
      const auto a =
          model->train_batch(info, texts.in(), texts.targets(), 1.0 / 36, Into::kReplace);
      const auto b =
          reference->train_batch(info, texts.in(), texts.targets(), 1.0 / 36, Into::kReplace);
      REQUIRE((a.ok() && b.ok()));
      // DESIGN.md: the first loss within 1e-6, 100 steps at lr 0.01 within 1e-4.
      REQUIRE(a->mean_loss() == Approx(b->mean_loss()).epsilon(step == 0 ? 1e-6 : 1e-4));
      first = step == 0 ? a->mean_loss() : first;
      last = a->mean_loss();
      sgd->step(sgd->scalars(0.01, step), model->parameters(), model->gradients());
      sgd64->step(sgd64->scalars(0.01, step), reference->parameters(), reference->gradients());
    }
    CHECK(last < first);
    CHECK(first == Approx(std::log(6.0)).epsilon(0.2));
  }
}

TEST_CASE("a token that the model does not know is a data error") {
  const auto backend = make_cpu_backend();
  const auto model = *Model::make(small_gpt(true), *backend, 3);
  Texts texts(1, 5, 7, Rng(1, 1));
  for (const std::int32_t bad : {-1, 7, 1 << 30}) {
    texts.x[3] = bad;
    const auto result = model->evaluate_batch(texts.in(), texts.targets());
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == Code::kData);
    CHECK(result.error().message.find(std::to_string(bad)) != std::string::npos);
  }
}

TEST_CASE("a step over tokens in steady state allocates nothing more") {
  const auto backend = make_cpu_backend();
  const auto model = *Model::make(small_gpt(true), *backend, 3);
  const Texts texts(3, 5, 7, Rng(1, 1));
  const auto step = [&] {
    REQUIRE(model->train_batch({}, texts.in(), texts.targets(), 1, Into::kReplace).ok());
    return model->working_bytes();
  };
  const auto once = step();
  CHECK(step() == once);
}

}  // namespace
}  // namespace shoal::ops::tests
