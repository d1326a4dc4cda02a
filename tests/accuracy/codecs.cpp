// The table of configs/README.md: test accuracy and bytes of each codec at its recommended setting,
// beside fp32. Real processes: `shoal up configs/lenet-codecs.toml`, once for each codec and seed,
// one after another. Prints rows in Markdown on stdout, each run on stderr.
// Exit: 0 when every codec is within its points of fp32, 1 when one is not, 2 for usage or when a
// run fails.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "node/run/child.h"
#include "tests/accuracy/recommended.h"
#include "tests/support/temp_folder.h"

namespace shoal::accuracy {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "codec_table: %s\n", why.c_str());
  std::_Exit(2);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    words.push_back(word);
  }
  return words;
}

struct Question {
  std::vector<std::string> seeds = {"1", "2", "3"};
  std::vector<std::string> codecs;    ///< none: all
  std::vector<std::string> settings;  ///< for every run, fp32's too
};

Question parse(int argc, char** argv) {
  Question question;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--seeds" && i + 1 < argc) {
      question.seeds = split(argv[++i]);
    } else if (argument == "--codecs" && i + 1 < argc) {
      question.codecs = split(argv[++i]);
    } else if (argument == "--set" && i + 1 < argc) {
      question.settings.emplace_back(argv[++i]);
    } else {
      give_up("usage: codec_table [--seeds 1,2,3] [--codecs NAME,NAME] [--set key=value]");
    }
  }
  return question;
}

struct Outcome {
  double accuracy = 0;
  double bytes = 0;
  double wall_s = 0;
};

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One run of four peers to its end, in a folder of its own.
Outcome run(const std::vector<std::string>& settings) {
  const shoal::tests::TempFolder folder;
  std::string command = "SHOAL_HOME='" + (folder / "home") +
                        "' exec '" SHOAL_PROGRAM "' up '" SHOAL_SOURCE_DIR
                        "/configs/lenet-codecs.toml' --set 'run_dir=" +
                        (folder / "runs") + "'";
  for (const std::string& setting : settings) {
    command += " --set '" + setting + "'";  // no quotes within
  }
  command += " >'" + (folder / "said") + "' 2>&1";
  auto child = node::Child::start("/bin/sh", {"-c", command});
  const int code = child.ok() ? child->wait() : -1;
  const auto summary =
      nlohmann::json::parse(text_of(folder / "runs/lenet-codecs/summary.json"), nullptr, false);
  if (code != 0 || summary.is_discarded() || summary["status"] != "done") {
    give_up(text_of(folder / "said") + "\n" + command + "\nended with " + std::to_string(code));
  }
  return {summary["test_accuracy"].get<double>(), summary["bytes_sent"].get<double>(),
          summary["wall_s"].get<double>()};
}

/// Means over the seeds.
Outcome outcome_of(const Recommended& codec, const Question& question) {
  Outcome mean;
  for (const std::string& seed : question.seeds) {
    auto settings = codec.settings;
    settings.insert(settings.end(), question.settings.begin(), question.settings.end());
    settings.push_back("compress.codec=" + codec.codec);
    settings.push_back("seed=" + seed);
    const Outcome one = run(settings);
    std::fprintf(stderr, "%s, seed %s: test accuracy %.4f, %.1f MB, %.1f s\n", codec.codec.c_str(),
                 seed.c_str(), one.accuracy, 1e-6 * one.bytes, one.wall_s);
    mean.accuracy += one.accuracy / static_cast<double>(question.seeds.size());
    mean.bytes += one.bytes / static_cast<double>(question.seeds.size());
  }
  return mean;
}

/// Writes the row; whether the codec is close enough to fp32.
bool row(const Recommended& codec, const Outcome& outcome, const Outcome& fp32) {
  std::string settings;
  for (const std::string& setting : codec.settings) {
    settings += (settings.empty() ? "`" : ", `") + setting + "`";
  }
  const double points = 100 * (outcome.accuracy - fp32.accuracy);
  const bool met = points >= -codec.points;
  std::printf("| `%s` | %s | %.4f | %+.2f | %.1f MB | %.4f |%s\n", codec.codec.c_str(),
              settings.c_str(), outcome.accuracy, points, 1e-6 * outcome.bytes,
              outcome.bytes / fp32.bytes, met ? "" : " NOT MET");
  std::fflush(stdout);
  return met;
}

int make_table(int argc, char** argv) {
  const Question question = parse(argc, argv);
  const auto all = recommended();
  std::vector<Recommended> wanted;
  for (const Recommended& codec : all) {
    const auto& names = question.codecs;
    if (names.empty() || std::find(names.begin(), names.end(), codec.codec) != names.end()) {
      wanted.push_back(codec);
    }
  }
  if (question.seeds.empty() || wanted.size() < question.codecs.size()) {
    give_up("a codec is not known, or there is no seed");
  }
  std::printf("| codec | set beside it | test accuracy | points to fp32 | sent | of fp32 |\n");
  std::printf("|---|---|---|---|---|---|\n");
  const Outcome fp32 = outcome_of({"fp32", {}, 0.5}, question);
  bool all_met = true;
  for (const Recommended& codec : wanted) {
    const Outcome outcome = codec.codec == "fp32" ? fp32 : outcome_of(codec, question);
    all_met = row(codec, outcome, fp32) && all_met;
  }
  return all_met ? 0 : 1;
}

}  // namespace
}  // namespace shoal::accuracy

int main(int argc, char** argv) { return shoal::accuracy::make_table(argc, argv); }
