// SPDX-License-Identifier: MIT
// The reader of Matrix Market files: a header, a size line, then one entry a line, counted from 1.
#include "bench/matrix_market.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace bench {
namespace {

struct located_entry {
  matrix_entry entry;
  std::int64_t line;
};

std::string lower_case(std::string text) {
  for (char& c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

template <class Integer> bool is_integer(const std::string& word, Integer* value) {
  const char* const first = word.data() + (word.size() > 1 && word[0] == '+' ? 1 : 0);
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(first, last, *value);
  return error == std::errc() && end == last;
}

class reader {
public:
  explicit reader(const std::string& path) : path_(path), file_(path) {
    if (!file_)
      throw std::invalid_argument("'" + path_ + "' cannot be opened for reading");
  }

  symmetric_matrix read() {
    read_header();
    read_size();
    read_entries();
    if (general_)
      keep_lower_triangle();
    else
      refuse_duplicates();
    symmetric_matrix matrix;
    matrix.order = order_;
    matrix.lower.reserve(entries_.size());
    for (const located_entry& e : entries_)
      matrix.lower.push_back(e.entry);
    return matrix;
  }

private:
  [[noreturn]] void refuse(std::int64_t line, const std::string& why) const {
    throw std::invalid_argument(path_ + ":" + std::to_string(line) + ": " + why);
  }

  // The next line that is neither blank nor a comment, in words; none at the end of the file.
  std::vector<std::string> next_line() {
    for (std::string text; std::getline(file_, text);) {
      ++line_;
      if (text.starts_with('%'))
        continue;
      std::vector<std::string> words = words_of(text);
      if (!words.empty())
        return words;
    }
    if (file_.bad())
      throw std::invalid_argument("'" + path_ + "' cannot be read");
    return {};
  }

  void read_header() {
    std::string text;
    if (!std::getline(file_, text) && file_.bad())
      throw std::invalid_argument("'" + path_ + "' cannot be read");
    line_ = 1;
    const std::vector<std::string> words = words_of(lower_case(text));
    if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix")
      refuse(1, "the file does not begin with a line '%%MatrixMarket matrix coordinate "
                "real|integer symmetric|general'");
    if (words[2] != "coordinate")
      refuse(1, "format '" + words[2] + "' is not accepted, only coordinate");
    if (words[3] != "real" && words[3] != "integer")
      refuse(1, "values of kind '" + words[3] + "' are not accepted, only real and integer");
    if (words[4] != "symmetric" && words[4] != "general")
      refuse(1, "symmetry '" + words[4] + "' is not accepted, only symmetric and general");
    whole_ = words[3] == "integer";
    general_ = words[4] == "general";
  }

  void read_size() {
    const std::vector<std::string> words = next_line();
    if (words.empty())
      refuse(line_, "the file ends before the line 'rows columns entries'");
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    if (words.size() != 3 || !is_integer(words[0], &rows) || !is_integer(words[1], &columns) ||
        !is_integer(words[2], &announced_) || announced_ < 0)
      refuse(line_, "expected the line 'rows columns entries', three whole numbers");
    if (rows != columns)
      refuse(line_, "the matrix is " + words[0] + " x " + words[1] + ", but must be square");
    if (rows < 1 || rows > std::numeric_limits<std::int32_t>::max())
      refuse(line_, "the order " + words[0] + " is out of range; accepted are 1 to " +
                        std::to_string(std::numeric_limits<std::int32_t>::max()));
    order_ = static_cast<std::int32_t>(rows);
  }

  void read_entries() {
    const std::string announced = std::to_string(announced_);
    for (auto words = next_line(); !words.empty(); words = next_line()) {
      if (static_cast<std::int64_t>(entries_.size()) == announced_)
        refuse(line_, "there are more entries than the " + announced + " announced");
      entries_.push_back({entry_of(words), line_});
    }
    if (static_cast<std::int64_t>(entries_.size()) < announced_)
      refuse(line_, "the file ends after " + std::to_string(entries_.size()) + " of the " +
                        announced + " entries announced");
  }

  matrix_entry entry_of(const std::vector<std::string>& words) const {
    if (words.size() != 3)
      refuse(line_, "expected an entry 'row column value'");
    const std::int32_t row = index_of(words[0]);
    const std::int32_t column = index_of(words[1]);
    if (!general_ && row < column)
      refuse(line_, "entry " + words[0] + " " + words[1] +
                        " is above the diagonal, where a symmetric file has none");
    return {row, column, value_of(words[2])};
  }

  std::int32_t index_of(const std::string& word) const {
    std::int32_t index = 0;
    if (!is_integer(word, &index) || index < 1 || index > order_)
      refuse(line_,
             "'" + word + "' is not a row or column; accepted are 1 to " + std::to_string(order_));
    return index - 1;
  }

  double value_of(const std::string& word) const {
    if (whole_) {
      std::int64_t whole = 0;
      if (!is_integer(word, &whole))
        refuse(line_, "'" + word + "' is not a whole number, which the file says its values are");
      return static_cast<double>(whole);
    }
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (end != word.c_str() + word.size() || !std::isfinite(value))
      refuse(line_, "'" + word + "' is not a finite number");
    return value;
  }

  static std::pair<std::int32_t, std::int32_t> place(const located_entry& e) {
    return {e.entry.row, e.entry.column};
  }

  static bool earlier(const located_entry& a, const located_entry& b) {
    return std::pair(place(a), a.line) < std::pair(place(b), b.line);
  }

  static std::string place_in_words(const matrix_entry& e) {
    return std::to_string(e.row + 1) + " " + std::to_string(e.column + 1);
  }

  void refuse_duplicates() {
    std::sort(entries_.begin(), entries_.end(), earlier);
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      if (place(entries_[i - 1]) == place(entries_[i]))
        refuse(entries_[i].line, "entry " + place_in_words(entries_[i].entry) +
                                     " was given before, in line " +
                                     std::to_string(entries_[i - 1].line));
    }
  }

  // Every entry of a general file must equal its mirror image; what is not given is zero.
  void keep_lower_triangle() {
    refuse_duplicates();
    for (const located_entry& e : entries_) {
      const located_entry sought{{e.entry.column, e.entry.row, 0.0}, 0};
      const auto mirror = std::lower_bound(entries_.begin(), entries_.end(), sought, earlier);
      const bool given = mirror != entries_.end() && place(*mirror) == place(sought);
      if (e.entry.value != (given ? mirror->entry.value : 0.0))
        refuse(e.line, "the matrix is not symmetric: entry " + place_in_words(sought.entry) +
                           " is not equal to entry " + place_in_words(e.entry));
    }
    std::erase_if(entries_, [](const located_entry& e) { return e.entry.row < e.entry.column; });
  }

  std::string path_;
  std::ifstream file_;
  std::int64_t line_ = 0;
  bool whole_ = false;
  bool general_ = false;
  std::int32_t order_ = 0;
  std::int64_t announced_ = 0;
  std::vector<located_entry> entries_;
};

} // namespace

symmetric_matrix read_matrix_market(const std::string& path) { return reader(path).read(); }

} // namespace bench
