// The rules of the house, read off the tree. Each rule is first shown to fail on a bad snippet.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/paths.h"
#include "tests/tidy/rules.h"

namespace shoal::tests::tidy {
namespace {

/// Who may use a banned name, and why. Everyone else passes work to Loop::offload.
const std::vector<Allowed> kAllowed = {
    {"comm/workers.cpp", "thread", "the compute, codec and io threads start here"},
    {"comm/workers.cpp", "lock", "their queues"},
    {"comm/loop.cpp", "lock", "what wake() hands from those threads to the loop"},
    {"node/run/child.cpp", "end", "a forked child whose exec failed may do nothing else"},
    {"tests/comm/still_endpoint.h", "lock", "a world without a network, woken from a thread"},
};

std::vector<Source> tree() {
  namespace fs = std::filesystem;
  std::vector<Source> sources;
  const fs::path root = source_path(".");
  for (const char* folder : {"ops", "compress", "comm", "node", "sim", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h" || extension == ".cpp" || extension == ".cu") {
        std::ifstream in(entry.path(), std::ios::binary);
        std::string text((std::istreambuf_iterator<char>(in)), {});
        sources.push_back(make_source(fs::relative(entry.path(), root).generic_string(), text));
      }
    }
  }
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

void report(const std::vector<Finding>& found) {
  for (const Finding& f : found) {
    FAIL_CHECK(f.path << ":" << f.line << ": " << f.what);
  }
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

TEST_CASE("the tree keeps the rules of the house") {
  const std::vector<Source> sources = tree();
  REQUIRE(sources.size() > 20);
  std::vector<Source> tests;
  for (const Source& source : sources) {
    report(upward_includes(source));
    report(sizes(source));
    report(banned_names(source, kAllowed));
    report(marks(source));
    if (source.path.rfind("tests/", 0) == 0) {
      tests.push_back(source);
    }
  }
  report(tests_without_assertion(tests));
}

TEST_CASE("every exception is still used") {
  const std::vector<Source> sources = tree();
  for (const Allowed& allowed : kAllowed) {
    std::size_t uses = 0;
    for (const Source& source : sources) {
      const auto with = banned_names(source, {allowed}).size();
      uses += banned_names(source, {}).size() - with;
    }
    INFO(allowed.path << " and " << allowed.group);
    CHECK(uses > 0);
  }
}

TEST_CASE("tidy: an upward include is found") {
  const auto count = [](const char* path, const char* text) {
    return upward_includes(make_source(path, text)).size();
  };
  CHECK(count("ops/x.cpp", "#include \"compress/codec.h\"\n") == 1);
  CHECK(count("comm/x.cpp", "\n  # include \"node/peer.h\"\n") == 1);
  CHECK(count("ops/base/x.h", "#include \"ops/tensor.h\"\n") == 1);
  CHECK(count("node/x.cpp", "#include \"tests/support/catch.h\"\n") == 1);
  CHECK(count("comm/x.cpp", "#include \"limits.h\"\n") == 1);
  CHECK(count("comm/x.cpp", "#include \"comm/limits.h\"\n#include \"ops/base/rng.h\"\n") == 0);
  CHECK(count("tests/comm/x.cpp", "#include \"node/peer.h\"\n#include <map>\n") == 0);
}

TEST_CASE("tidy: what is too long is found") {
  const auto count = [](const std::string& text) {
    return sizes(make_source("ops/x.cpp", text)).size();
  };
  const std::string body = repeat("  g();\n", 69);
  CHECK(count("void f() {\n" + repeat("  g();\n", 68) + "}\n") == 0);
  CHECK(count("void f() {\n" + body + "}\n") == 1);
  CHECK(count("namespace a {\nclass B {\n  B() : x_{1}, y_(2) {\n" + body + "}\n};\n}\n") == 1);
  CHECK(count("template <class T>\nauto f(T) -> std::vector<T> {\n" + body + "}\n") == 1);
  CHECK(count("namespace {\n" + repeat("void f() {}\n", 100) + "}\n") == 0);
  CHECK(count("struct A {\n" + repeat("  int f() const { return 1; }\n", 100) + "};\n") == 0);
  CHECK(count("const std::vector<int> k = {\n" + repeat("  1,\n", 100) + "};\n") == 0);
  CHECK(count("void f() {\n  g(\"}\", '}');  // }\n" + body + "}\n") == 1);
  CHECK(count(repeat("int x;\n", 600)) == 0);
  CHECK(count(repeat("int x;\n", 601)) == 1);
  CHECK(count("// " + repeat("x", 97) + "\n") == 0);
  CHECK(count("// " + repeat("x", 98) + "\n") == 1);
  CHECK(count("// " + repeat("\xC3\xA9", 97) + "\n") == 0);
  CHECK(sizes(make_source("ops/x.h", "int x;\n")).size() == 1);
  CHECK(sizes(make_source("ops/x-inl.h", "int x;\n")).empty());
}

TEST_CASE("tidy: a banned name is found") {
  const auto count = [](const char* text) {
    return banned_names(make_source("comm/x.cpp", text), {}).size();
  };
  CHECK(count("void f() { assert(x); }") == 1);
  CHECK(count("void f() { std::abort(); }") == 1);
  CHECK(count("void f() { exit (1); }") == 1);
  CHECK(count("int f() { return rand(); }") == 1);
  CHECK(count("auto t = std::chrono::system_clock::now();") == 1);
  CHECK(count("std::thread t; std::jthread j; std::mutex m;") == 3);
  CHECK(count("std::lock_guard<std::mutex> l(m);") == 2);
  CHECK(count("static_assert(x); round.abort(); s = \"exit(1)\";  // std::thread") == 0);
  CHECK(count("int thread = 1; std::this_thread::yield(); std::thread::id i;") == 0);
  const Source source = make_source("comm/x.cpp", "std::mutex m;");
  CHECK(banned_names(source, {{"comm/", "lock", "a test"}}).empty());
  CHECK(banned_names(source, {{"comm/x.cpp", "thread", "a test"}}).size() == 1);
}

TEST_CASE("tidy: a mark is found") {
  CHECK(marks(make_source("ops/x.h",
                          "// TO"
                          "DO: later"))
            .size() == 1);
  CHECK(marks(make_source("ops/x.h",
                          "// FIX"
                          "ME"))
            .size() == 1);
  CHECK(marks(make_source("ops/x.h", "int to_do = kTODOList;")).empty());
}

TEST_CASE("tidy: a test case that asserts nothing is found") {
  const auto count = [](const char* text) {
    return tests_without_assertion({make_source("tests/x.cpp", text)}).size();
  };
  CHECK(count("TEST_CASE(\"a\") { f(); }") == 1);
  CHECK(count("TEST_CASE(\"a\") { f(\"CHECK\"); }  // CHECK") == 1);
  CHECK(count("TEST_CASE(\"a\") { CHECK(f()); }") == 0);
  CHECK(count("TEMPLATE_TEST_CASE(\"a\", \"[b]\", int) { REQUIRE_THROWS(f()); }") == 0);
  CHECK(count("void ok(int x) { CHECK(x); }\nTEST_CASE(\"a\") { ok(1); }") == 0);
  CHECK(count("void no(int x) { g(x); }\nTEST_CASE(\"a\") { no(1); }") == 1);
}

}  // namespace
}  // namespace shoal::tests::tidy
