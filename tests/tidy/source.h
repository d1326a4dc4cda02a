#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tests::tidy {

/// A function, lambda at namespace scope, or test case, as braces tell.
struct Function {
  std::string name;  ///< last identifier before the parameters, or the macro's name
  std::size_t first_line = 0;
  std::size_t last_line = 0;
  std::string_view body;  ///< between the braces, in `Source::code`
};

/// One file, read the way the rules need it.
struct Source {
  std::string path;  ///< from the root, with '/'
  std::string text;
  std::string code;  ///< text with comments, literals and directives blanked; same offsets
};

/// Splits `text` once; `path` is from the root of the tree.
Source make_source(std::string path, std::string text);

/// What has a body of statements at namespace or class scope. A heuristic of braces: it knows
/// initialiser lists, types, namespaces, lambdas and attributes; it does not expand macros.
/// The bodies point into `source.code`.
std::vector<Function> functions(const Source& source);

std::size_t line_of(std::string_view text, std::size_t offset);

/// `\bword\b` at or after `from`; npos when there is none.
std::size_t find_word(std::string_view code, std::string_view word, std::size_t from = 0);

/// Identifiers that start with `prefix`.
bool has_word_with_prefix(std::string_view code, std::string_view prefix);

}  // namespace shoal::tests::tidy
