// SPDX-License-Identifier: MIT
// The reader of Matrix Market files: what it accepts, and what it says of each kind of bad file.
#include "bench/matrix_market.h"

#include "tests/bench/written_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

bool operator==(const matrix_entry& a, const matrix_entry& b) {
  return std::tie(a.row, a.column, a.value) == std::tie(b.row, b.column, b.value);
}

void PrintTo(const matrix_entry& e, std::ostream* out) {
  *out << e.row << " " << e.column << " " << e.value;
}

namespace {

symmetric_matrix read(const std::string& text) {
  const written_file file(text);
  symmetric_matrix matrix = read_matrix_market(file.path());
  std::sort(matrix.lower.begin(), matrix.lower.end(), [](const auto& a, const auto& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  return matrix;
}

using entries = std::vector<matrix_entry>;

TEST(matrix_market, reads_a_symmetric_file_of_real_numbers) {
  const symmetric_matrix matrix = read("%%MatrixMarket matrix coordinate real symmetric\n"
                                       "% a comment\n"
                                       "%\n"
                                       "3 3 4\n"
                                       "1 1 4.5\n"
                                       "3 1 -1e-1\n"
                                       "% between entries, too\n"
                                       "2 2 +2.\n"
                                       "3 3 5\n");
  EXPECT_EQ(matrix.order, 3);
  EXPECT_EQ(matrix.lower, (entries{{0, 0, 4.5}, {1, 1, 2}, {2, 0, -0.1}, {2, 2, 5}}));
}

TEST(matrix_market, reads_a_file_of_integers) {
  const symmetric_matrix matrix = read("%%MatrixMarket matrix coordinate integer symmetric\n"
                                       "2 2 3\n1 1 7\n2 1 -3\n2 2 +9\n");
  EXPECT_EQ(matrix.lower, (entries{{0, 0, 7}, {1, 0, -3}, {1, 1, 9}}));
}

TEST(matrix_market, takes_the_lower_half_of_a_general_file_that_is_symmetric) {
  const symmetric_matrix matrix = read("%%MatrixMarket matrix coordinate real general\n"
                                       "3 3 5\n1 3 2\n1 1 1\n2 2 1\n3 1 2\n1 2 0\n");
  EXPECT_EQ(matrix.lower, (entries{{0, 0, 1}, {1, 1, 1}, {2, 0, 2}}));
}

TEST(matrix_market, overlooks_case_blank_lines_and_carriage_returns) {
  const symmetric_matrix matrix = read("%%matrixmarket MATRIX Coordinate REAL Symmetric\r\n"
                                       "\r\n  1   1\t1\r\n\r\n 1 1 3 \r\n\r\n");
  EXPECT_EQ(matrix.order, 1);
  EXPECT_EQ(matrix.lower, (entries{{0, 0, 3}}));
}

struct bad_file {
  const char* name;
  const char* text;
  const char* complaint; // with the line before it
};

void PrintTo(const bad_file& file, std::ostream* out) { *out << file.name; }

class bad_files : public testing::TestWithParam<bad_file> {};

TEST_P(bad_files, end_in_a_sentence_that_names_file_and_line) {
  const written_file file(GetParam().text);
  try {
    read_matrix_market(file.path());
    FAIL() << "the file was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_EQ(e.what(), file.path() + ":" + GetParam().complaint);
  }
}

#define HEADER "%%MatrixMarket matrix coordinate "
const bad_file all_bad_files[] = {
    {"empty", "",
     "1: the file does not begin with a line '%%MatrixMarket matrix coordinate real|integer "
     "symmetric|general'"},
    {"no_header", "2 2 1\n1 1 1\n",
     "1: the file does not begin with a line '%%MatrixMarket matrix coordinate real|integer "
     "symmetric|general'"},
    {"array", "%%MatrixMarket matrix array real symmetric\n",
     "1: format 'array' is not accepted, only coordinate"},
    {"pattern", HEADER "pattern symmetric\n",
     "1: values of kind 'pattern' are not accepted, only real and integer"},
    {"complex", HEADER "complex symmetric\n",
     "1: values of kind 'complex' are not accepted, only real and integer"},
    {"skew", HEADER "real skew-symmetric\n",
     "1: symmetry 'skew-symmetric' is not accepted, only symmetric and general"},
    {"no_size", HEADER "real general\n% nothing\n",
     "2: the file ends before the line 'rows columns entries'"},
    {"short_size", HEADER "real general\n2 2\n",
     "2: expected the line 'rows columns entries', three whole numbers"},
    {"worded_size", HEADER "real general\n2 2 many\n",
     "2: expected the line 'rows columns entries', three whole numbers"},
    {"negative_size", HEADER "real general\n2 2 -1\n",
     "2: expected the line 'rows columns entries', three whole numbers"},
    {"oblong", HEADER "real general\n2 3 1\n", "2: the matrix is 2 x 3, but must be square"},
    {"nothing", HEADER "real general\n0 0 0\n",
     "2: the order 0 is out of range; accepted are 1 to 2147483647"},
    {"huge", HEADER "real general\n3000000000 3000000000 0\n",
     "2: the order 3000000000 is out of range; accepted are 1 to 2147483647"},
    {"too_few", HEADER "real symmetric\n2 2 2\n1 1 1\n",
     "3: the file ends after 1 of the 2 entries announced"},
    {"too_many", HEADER "real symmetric\n2 2 1\n1 1 1\n2 2 1\n",
     "4: there are more entries than the 1 announced"},
    {"no_value", HEADER "real symmetric\n1 1 1\n1 1\n", "3: expected an entry 'row column value'"},
    {"two_values", HEADER "real symmetric\n1 1 1\n1 1 2 0\n",
     "3: expected an entry 'row column value'"},
    {"row_zero", HEADER "real symmetric\n% from 0\n1 1 1\n0 0 1\n",
     "4: '0' is not a row or column; accepted are 1 to 1"},
    {"beyond", HEADER "real symmetric\n2 2 1\n3 1 1\n",
     "3: '3' is not a row or column; accepted are 1 to 2"},
    {"fraction_of_a_row", HEADER "real symmetric\n2 2 1\n1.5 1 1\n",
     "3: '1.5' is not a row or column; accepted are 1 to 2"},
    {"upper", HEADER "real symmetric\n2 2 1\n1 2 1\n",
     "3: entry 1 2 is above the diagonal, where a symmetric file has none"},
    {"not_a_number", HEADER "real symmetric\n1 1 1\n1 1 nan\n", "3: 'nan' is not a finite number"},
    {"too_large", HEADER "real symmetric\n1 1 1\n1 1 1e999\n", "3: '1e999' is not a finite number"},
    {"word", HEADER "real symmetric\n1 1 1\n1 1 3x\n", "3: '3x' is not a finite number"},
    {"fraction", HEADER "integer symmetric\n1 1 1\n1 1 3.5\n",
     "3: '3.5' is not a whole number, which the file says its values are"},
    {"twice", HEADER "real symmetric\n2 2 3\n2 1 1\n1 1 1\n2 1 1\n",
     "5: entry 2 1 was given before, in line 3"},
    {"one_sided", HEADER "real general\n2 2 2\n1 1 1\n2 1 1\n",
     "4: the matrix is not symmetric: entry 1 2 is not equal to entry 2 1"},
    {"unequal", HEADER "real general\n2 2 2\n1 2 1\n2 1 2\n",
     "3: the matrix is not symmetric: entry 2 1 is not equal to entry 1 2"},
};
#undef HEADER

INSTANTIATE_TEST_SUITE_P(matrix_market, bad_files, testing::ValuesIn(all_bad_files),
                         [](const auto& file) { return std::string(file.param.name); });

TEST(matrix_market, names_a_file_that_cannot_be_read) {
  const auto complaint = [](const std::string& path) -> std::string {
    try {
      read_matrix_market(path);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "it was accepted";
  };
  EXPECT_EQ(complaint("/nowhere/at/all.mtx"), "'/nowhere/at/all.mtx' cannot be opened for reading");
  EXPECT_EQ(complaint(testing::TempDir()), "'" + testing::TempDir() + "' cannot be read");
}

} // namespace
} // namespace bench
