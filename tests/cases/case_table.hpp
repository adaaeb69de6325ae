// The case table: rows of tests/cases/*.json expanded into cases, and their inputs. README.md is the
// specification; tools/golden/cases.py is the Python twin that the goldens come from.
#pragma once
#include <cotan/flat.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace cases {

using cotan::Array;
using cotan::Arrays;
using cotan::DType;
using Json = nlohmann::json;

struct Argument {
  cotan::Shape shape;
  DType dtype;
  std::string kind;
  Json low, high;  ///< the domain
  Json values;
  bool fixed_dtype;  ///< given by the argument, not by the row
};

struct Tolerance {
  double relative = 0, absolute = 0;
};

struct Case {
  std::string id, family, op;
  std::vector<Argument> arguments;
  Json params;
  std::vector<std::size_t> grad;  ///< arguments to differentiate; empty: no gradient golden
  bool exact = false, finite_differences = true, any_dtype = false, eager = false;
  std::map<std::string, Tolerance> tolerances, grad_tolerances;

  /// For results of `dtype`; zero for integers.
  Tolerance tolerance(DType dtype, bool gradient = false) const;
};

/// All cases of all files of a folder of tests, in order. Raises on a malformed row and on an id that occurs twice.
std::vector<Case> load_table(const std::string& folder = "cases");

/// The inputs of a case. `variant` > 0 gives other inputs of the same kind, for batches.
Arrays make_inputs(const Case& c, int variant = 0);
/// Uniform in [-1, 1): the cotangent of output k is `weights(id, 100 + k, …)`.
Array weights(const std::string& id, std::size_t argument, const cotan::Shape& shape, DType dtype);
inline constexpr std::size_t output_weights = 100, tangent_weights = 50;

DType parse_dtype(const std::string& name);

}  // namespace cases
