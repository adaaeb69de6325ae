// What each op name of tests/torch/cases means in cotan::torch: a function of the case's tensors and params. A file of
// tests/torch adds its ops by a variable:
//
//     const AddOps added{{"exp", [](Tensors x, const Params&) { return torch::exp(x[0]); }}};
#pragma once
#include <cotan/torch.hpp>
#include <functional>
#include <map>
#include <span>

#include "cases/params.hpp"

namespace torch_ops {

namespace torch = cotan::torch;
using cases::Params;
using torch::Tensor;
using Tensors = std::span<const Tensor>;

/// One tensor or several, as functions give them.
struct Results {
  Results(Tensor one) : list{std::move(one)} {}
  Results(std::vector<Tensor> several) : list(std::move(several)) {}
  Results(std::pair<Tensor, Tensor> two) : list{two.first, two.second} {}
  Results(std::tuple<Tensor, Tensor, Tensor> three)
      : list{std::get<0>(three), std::get<1>(three), std::get<2>(three)} {}
  std::vector<Tensor> list;
};
using Function = std::function<Results(Tensors, const Params&)>;

struct AddOps {
  AddOps(std::initializer_list<std::pair<const std::string, Function>> ops);
};
/// Raises if no op has that name.
const Function& lookup(const std::string& op);

/// The next tensor, or the number that the param `key` says, for functions that take both.
template <class F>
Results with_operand(Tensors x, std::size_t i, const Params& p, const char* key, F f) {
  if (!p.has(key)) return f(x[i]);
  const cases::Json& v = p[key];
  if (v.is_boolean()) return f(v.get<bool>());
  if (v.is_number_integer()) return f(v.get<std::int64_t>());
  return f(v.get<double>());
}

}  // namespace torch_ops
