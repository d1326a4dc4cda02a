#include "tests/tidy/source.h"

#include <algorithm>
#include <regex>
#include <utility>

namespace shoal::tests::tidy {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Blanks [begin, end) but keeps the lines.
void blank(std::string& code, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, code.size()); ++i) {
    if (code[i] != '\n') {
      code[i] = ' ';
    }
  }
}

std::size_t end_of_quote(std::string_view text, std::size_t open) {
  const char quote = text[open];
  std::size_t i = open + 1;
  while (i < text.size() && text[i] != quote && text[i] != '\n') {
    i += text[i] == '\\' ? 2 : 1;
  }
  return std::min(i + 1, text.size());
}

std::size_t end_of_raw(std::string_view text, std::size_t open) {
  const std::size_t paren = text.find('(', open);
  if (paren == std::string_view::npos) {
    return text.size();
  }
  std::string close = ")";
  close += text.substr(open + 1, paren - open - 1);
  close += '"';
  const std::size_t end = text.find(close, paren);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

std::size_t end_of_directive(std::string_view text, std::size_t hash) {
  std::size_t end = text.find('\n', hash);
  while (end != std::string_view::npos && end > 0 && text[end - 1] == '\\') {
    end = text.find('\n', end + 1);
  }
  return std::min(end, text.size());
}

/// End of the comment, literal or directive that starts at `i`; `i` when none does.
std::size_t end_of_noncode(std::string_view text, std::size_t i, bool line_start) {
  const std::string_view two = text.substr(i, 2);
  if (two == "//") {
    return std::min(text.find('\n', i), text.size());
  }
  if (two == "/*") {
    const std::size_t end = text.find("*/", i + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (text[i] == '#' && line_start) {
    return end_of_directive(text, i);
  }
  if (text[i] == '"') {
    const bool raw = i > 0 && text[i - 1] == 'R';
    return raw ? end_of_raw(text, i) : end_of_quote(text, i);
  }
  if (text[i] == '\'' && (i == 0 || !is_word(text[i - 1]))) {  // 1'000 is no literal
    return end_of_quote(text, i);
  }
  return i;
}

std::string code_of(std::string_view text) {
  std::string code(text);
  bool line_start = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of_noncode(text, i, line_start);
    if (end > i) {
      blank(code, i, end);
      i = end;
      line_start = false;
      continue;
    }
    line_start = text[i] == '\n' || (line_start && (text[i] == ' ' || text[i] == '\t'));
    ++i;
  }
  return code;
}

/// Drops what stands between brackets, so that only the outer words are left.
std::string outer(std::string_view head) {
  std::string out;
  int round = 0;
  int angle = 0;
  for (const char c : head) {
    round += c == '(' ? 1 : 0;
    angle += c == '<' ? 1 : 0;
    if (round == 0 && angle == 0) {
      out += c;
    }
    round -= c == ')' && round > 0 ? 1 : 0;
    angle -= c == '>' && angle > 0 ? 1 : 0;
    if (c == ')' && round == 0) {
      out += "()";
    }
  }
  return out;
}

enum class Block { kScope, kFunction, kInitialiser, kOther };

Block kind_of(std::string_view head) {
  static const std::regex type_or_namespace(R"(\b(class|struct|union|enum|namespace|extern)\b)");
  static const std::regex member_initialiser(R"(\)[^:]*[^:]:[^:](.|\n)*[A-Za-z0-9_]\s*$)");
  const std::string words = outer(head);
  if (std::regex_search(words, type_or_namespace)) {
    return Block::kScope;
  }
  if (words.find(')') == std::string::npos) {
    return words.find_first_not_of(" \n") == std::string::npos ? Block::kScope : Block::kOther;
  }
  if (std::regex_search(words, member_initialiser)) {
    return Block::kInitialiser;
  }
  return Block::kFunction;
}

std::string name_of(std::string_view head) {
  const std::size_t paren = head.find('(');
  std::size_t end = std::min(paren, head.size());
  while (end > 0 && !is_word(head[end - 1])) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_word(head[begin - 1])) {
    --begin;
  }
  return std::string(head.substr(begin, end - begin));
}

std::size_t matching_brace(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    depth += code[i] == '{' ? 1 : code[i] == '}' ? -1 : 0;
    if (depth == 0) {
      return i;
    }
  }
  return code.size();
}

}  // namespace

Source make_source(std::string path, std::string text) {
  std::string code = code_of(text);
  return {std::move(path), std::move(text), std::move(code)};
}

std::vector<Function> functions(const Source& source) {
  const std::string_view code = source.code;
  std::vector<Function> found;
  std::string head;
  std::size_t head_begin = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == ';' || c == '}') {
      head.clear();
    } else if (c != '{') {
      if (head.empty() && (c == ' ' || c == '\n')) {
        continue;
      }
      head_begin = head.empty() ? i : head_begin;
      head += c;
    } else {
      const Block kind = kind_of(head);
      if (kind == Block::kScope) {
        head.clear();
        continue;
      }
      const std::size_t close = matching_brace(code, i);
      if (kind == Block::kFunction) {
        found.push_back({name_of(head), line_of(code, head_begin), line_of(code, close),
                         code.substr(i + 1, std::max(close, i + 1) - i - 1)});
      }
      if (kind == Block::kFunction) {
        head.clear();
      } else {
        head += "()";  // a value in braces, as good as one in parentheses
      }
      i = close;
    }
  }
  return found;
}

std::size_t line_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::size_t find_word(std::string_view code, std::string_view word, std::size_t from) {
  for (std::size_t i = code.find(word, from); i != std::string_view::npos;
       i = code.find(word, i + 1)) {
    const std::size_t end = i + word.size();
    if ((i == 0 || !is_word(code[i - 1])) && (end == code.size() || !is_word(code[end]))) {
      return i;
    }
  }
  return std::string_view::npos;
}

bool has_word_with_prefix(std::string_view code, std::string_view prefix) {
  for (std::size_t i = code.find(prefix); i != std::string_view::npos;
       i = code.find(prefix, i + 1)) {
    if (i == 0 || !is_word(code[i - 1])) {
      return true;
    }
  }
  return false;
}

}  // namespace shoal::tests::tidy
