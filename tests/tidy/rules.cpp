#include "tests/tidy/rules.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string_view>

namespace shoal::tests::tidy {
namespace {

constexpr std::array<std::string_view, 5> kOrder = {"ops", "compress", "comm", "node", "sim"};

std::string folder_of(std::string_view path) {
  return std::string(path.substr(0, std::min(path.find('/'), path.size())));
}

std::size_t rank_of(std::string_view folder) {
  return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), folder) - kOrder.begin());
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::string include_fault(std::string_view path, std::string_view included) {
  const std::string from = folder_of(path);
  const std::string to = folder_of(included);
  if (to == "hwy") {
    return {};  // Highway's headers come in a fixed order, which <> would let a formatter change
  }
  const bool known = rank_of(to) < kOrder.size() || to == "tests";
  if (included.find('/') == std::string_view::npos || !known) {
    return "is not from the root of the tree";
  }
  if (from == "tests") {
    return {};
  }
  if (to == "tests" || rank_of(to) > rank_of(from)) {
    return "points upward from " + from;
  }
  if (starts_with(path, "ops/base/") && !starts_with(included, "ops/base/")) {
    return "leaves ops/base";
  }
  return {};
}

/// Characters, not bytes: continuation bytes of UTF-8 take no column.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

/// A C header has #ifndef; an -inl.h is included once for each SIMD target on purpose.
bool is_unguarded_header(const Source& source) {
  return ends_with(source.path, ".h") && !ends_with(source.path, "-inl.h") &&
         source.text.find("#pragma once") == std::string::npos &&
         source.text.find("#ifndef SHOAL_") == std::string::npos;
}

struct Banned {
  std::string_view name;
  std::string_view group;  ///< what an exception is granted for
  bool call;               ///< only when '(' follows and it is no member
  std::string_view instead;
};

constexpr std::array kBanned = {
    Banned{"assert", "end", true, "SHOAL_CHECK"},
    Banned{"abort", "end", true, "SHOAL_CHECK or a Result"},
    Banned{"exit", "end", true, "a Result, and a code from main"},
    Banned{"_exit", "end", true, "a Result, and a code from main"},
    Banned{"quick_exit", "end", true, "a Result, and a code from main"},
    Banned{"rand", "chance", true, "ops/base/rng.h"},
    Banned{"srand", "chance", true, "ops/base/rng.h"},
    Banned{"random_device", "chance", false, "ops/base/rng.h"},
    Banned{"mt19937", "chance", false, "ops/base/rng.h"},
    Banned{"mt19937_64", "chance", false, "ops/base/rng.h"},
    Banned{"system_clock", "time of day", false, "ops/base/clock.h"},
    Banned{"thread", "thread", false, "Loop::offload"},
    Banned{"jthread", "thread", false, "Loop::offload"},
    Banned{"async", "thread", true, "Loop::offload"},
    Banned{"mutex", "lock", false, "Loop::offload"},
    Banned{"shared_mutex", "lock", false, "Loop::offload"},
    Banned{"recursive_mutex", "lock", false, "Loop::offload"},
    Banned{"condition_variable", "lock", false, "Loop::offload"},
    Banned{"lock_guard", "lock", false, "Loop::offload"},
    Banned{"scoped_lock", "lock", false, "Loop::offload"},
    Banned{"unique_lock", "lock", false, "Loop::offload"},
};

char before(std::string_view code, std::size_t at, std::size_t back = 1) {
  return at >= back ? code[at - back] : '\0';
}

bool is_use(std::string_view code, std::size_t at, const Banned& banned) {
  if (!banned.call) {  // std::thread, but neither `thread` nor std::thread::id
    return before(code, at) == ':' && before(code, at, 2) == ':' &&
           code.substr(at + banned.name.size(), 4) != "::id";
  }
  const std::size_t next = code.find_first_not_of(" \n", at + banned.name.size());
  const bool member = before(code, at) == '.' || (before(code, at) == '>' && at >= 2);
  return next != std::string_view::npos && code[next] == '(' && !member;
}

bool may_use(std::string_view path, std::string_view group, const std::vector<Allowed>& allowed) {
  return std::any_of(allowed.begin(), allowed.end(), [&](const Allowed& a) {
    const bool here = ends_with(a.path, "/") ? starts_with(path, a.path) : path == a.path;
    return here && a.group == group;
  });
}

bool is_test_case(const Function& function) {
  return ends_with(function.name, "TEST_CASE") || function.name == "SCENARIO" ||
         ends_with(function.name, "TEST_CASE_METHOD");
}

bool asserts(std::string_view body, const std::set<std::string>& helpers) {
  static constexpr std::array<std::string_view, 4> kMacros = {"REQUIRE", "CHECK", "FAIL",
                                                              "SUCCEED"};
  return std::any_of(kMacros.begin(), kMacros.end(),
                     [&](std::string_view m) { return has_word_with_prefix(body, m); }) ||
         std::any_of(helpers.begin(), helpers.end(), [&](const std::string& h) {
           return find_word(body, h) != std::string_view::npos;
         });
}

}  // namespace

std::vector<Finding> upward_includes(const Source& source) {
  static const std::regex include("(^|\n)[ \t]*#[ \t]*include[ \t]*\"([^\"\n]+)\"");
  std::vector<Finding> found;
  const std::string& text = source.text;
  for (std::sregex_iterator i(text.begin(), text.end(), include), end; i != end; ++i) {
    const std::string fault = include_fault(source.path, (*i)[2].str());
    if (!fault.empty()) {
      found.push_back({source.path, line_of(text, static_cast<std::size_t>(i->position(2))),
                       "include of \"" + (*i)[2].str() + "\" " + fault});
    }
  }
  return found;
}

std::vector<Finding> sizes(const Source& source) {
  std::vector<Finding> found;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < source.text.size();) {
    const std::size_t end = std::min(source.text.find('\n', begin), source.text.size());
    ++line;
    if (columns(std::string_view(source.text).substr(begin, end - begin)) > kColumnsMax) {
      found.push_back({source.path, line, "line of more than 100 columns"});
    }
    begin = end + 1;
  }
  if (line > kFileLinesMax) {
    found.push_back({source.path, line, "file of more than 600 lines"});
  }
  for (const Function& f : functions(source)) {
    if (f.last_line - f.first_line + 1 > kFunctionLinesMax) {
      found.push_back({source.path, f.first_line,
                       f.name + " has " + std::to_string(f.last_line - f.first_line + 1) +
                           " lines, more than 70"});
    }
  }
  if (is_unguarded_header(source)) {
    found.push_back({source.path, 1, "header without #pragma once"});
  }
  return found;
}

std::vector<Finding> banned_names(const Source& source, const std::vector<Allowed>& allowed) {
  std::vector<Finding> found;
  const std::string_view code = source.code;
  for (const Banned& banned : kBanned) {
    for (std::size_t at = find_word(code, banned.name); at != std::string_view::npos;
         at = find_word(code, banned.name, at + 1)) {
      if (is_use(code, at, banned) && !may_use(source.path, banned.group, allowed)) {
        found.push_back(
            {source.path, line_of(code, at),
             std::string(banned.name) + " is banned; use " + std::string(banned.instead)});
      }
    }
  }
  return found;
}

std::vector<Finding> marks(const Source& source) {
  // Spelt in halves, so that this file passes its own rule.
  static const std::array<std::string, 4> kMarks = {
      "TO"
      "DO",
      "FIX"
      "ME",
      "X"
      "XX",
      "HA"
      "CK"};
  std::vector<Finding> found;
  for (const std::string& mark : kMarks) {
    for (std::size_t at = find_word(source.text, mark); at != std::string::npos;
         at = find_word(source.text, mark, at + 1)) {
      found.push_back({source.path, line_of(source.text, at), "mark " + mark});
    }
  }
  return found;
}

std::vector<Finding> tests_without_assertion(const std::vector<Source>& tests) {
  std::set<std::string> helpers;
  std::size_t known = 0;
  do {  // until a pass finds no helper that asserts through another
    known = helpers.size();
    for (const Source& source : tests) {
      for (const Function& f : functions(source)) {
        if (!is_test_case(f) && !f.name.empty() && asserts(f.body, helpers)) {
          helpers.insert(f.name);
        }
      }
    }
  } while (helpers.size() != known);
  std::vector<Finding> found;
  for (const Source& source : tests) {
    for (const Function& f : functions(source)) {
      if (is_test_case(f) && !asserts(f.body, helpers)) {
        found.push_back({source.path, f.first_line, "test case without an assertion"});
      }
    }
  }
  return found;
}

}  // namespace shoal::tests::tidy
