// SPDX-License-Identifier: MIT
// Prints the computations of problem known_span with their closed forms, as one line of JSON.
//
// usage: known_span_cases [--size test|quick|paper]
#include "bench/backend/serial.h"
#include "bench/problems/known_span.h"
#include "bench/problems/side_by_side.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace {

nlohmann::ordered_json described(long number, const bench::span_case& c) {
  const bench::closed_form is = bench::closed_form_of(c);
  nlohmann::ordered_json line;
  line["n"] = number;
  line["family"] = bench::name_of(c.family);
  line["levels"] = c.levels;
  line["grain"] = c.grain;
  line["spine"] = c.spine;
  line["repeat"] = c.repeat;
  line["pages"] = c.pages;
  line["above"] = c.above;
  line["work"] = is.work;
  line["span"] = is.span;
  line["forks"] = is.forks;
  line["path_forks"] = is.path_forks;
  return line;
}

} // namespace

int main(int argc, char** argv) {
  const std::map<std::string, bench::size> sizes{
      {"test", bench::size::test}, {"quick", bench::size::quick}, {"paper", bench::size::paper}};
  std::string size = "quick";
  CLI::App app{"the cases of known_span"};
  app.add_option("--size", size, "input size: test, quick or paper")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& e) {
    std::cerr << "known_span_cases: " << e.what() << "; accepted is --size test|quick|paper\n";
    return 2;
  }
  const auto chosen = sizes.find(size);
  if (chosen == sizes.end()) {
    std::cerr << "known_span_cases: --size " << size
              << " is not known; accepted are test, quick and paper\n";
    return 2;
  }
  nlohmann::ordered_json cases;
  for (long n = 1; n <= bench::last_span_case; ++n)
    cases.push_back(described(n, bench::span_case_of(chosen->second, n)));
  nlohmann::ordered_json all;
  all["side_by_side_units"] = bench::side_by_side_problem(chosen->second).units();
  all["cases"] = cases;
  std::cout << all.dump() << std::endl;
  return 0;
}
