#include "node/cli/cli.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return shoal::node::run_cli(argc > 0 ? argv[0] : "shoal", words, shoal::node::commands());
}
