// SPDX-License-Identifier: MIT
// The GNU Scientific Library's integrators: integrands that fork.
#include "tests/interop/foreign.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>

#include <cmath>

namespace {

double integrand(double x, void*) {
  return nopal_interop::work(4) == nopal_interop::expected(4) ? 3 * x * x : 0;
}

bool run_qag() {
  gsl_integration_workspace* const space = gsl_integration_workspace_alloc(100);
  gsl_function function{integrand, nullptr};
  double result = 0;
  double error = 0;
  const int status = gsl_integration_qag(&function, 0, 2, 1e-9, 1e-9, 100, GSL_INTEG_GAUSS15, space,
                                         &result, &error);
  gsl_integration_workspace_free(space);
  return status == GSL_SUCCESS && std::abs(result - 8) < 1e-9;
}

bool run_qng() {
  gsl_function function{integrand, nullptr};
  double result = 0;
  double error = 0;
  std::size_t evaluations = 0;
  return gsl_integration_qng(&function, 0, 2, 1e-9, 1e-9, &result, &error, &evaluations) ==
             GSL_SUCCESS &&
         std::abs(result - 8) < 1e-9;
}

} // namespace

int main(int count, char** arguments) {
  gsl_set_error_handler_off();
  return nopal_interop::main_of(
      count, arguments,
      {{"gsl_integration_qag", run_qag, false}, {"gsl_integration_qng", run_qng, false}});
}
