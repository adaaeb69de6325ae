// x(0, Slice(1, 3), None, mask): views, then elements by tensors.
#include <fmt/format.h>

#include <cotan/numpy.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/gathering.hpp>
#include <cotan/torch/tensor_index.hpp>
#include <cotan/torch/views.hpp>
#include <limits>

#include "torch/ops/families.hpp"
#include "torch/ops/indices.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

/// What indices give: a view, and tensors of integers for some of its dimensions.
struct Parts {
  Tensor view;
  std::vector<std::pair<int, Tensor>> tensors;
};

/// How many dimensions of the tensor an index takes.
int taken(const TensorIndex& i) {
  if (const Tensor* t = std::get_if<Tensor>(&i.spec())) return t->dtype() == DType::bool_ ? t->dim() : 1;
  return std::holds_alternative<None>(i.spec()) || std::holds_alternative<cotan::Ellipsis>(i.spec()) ? 0 : 1;
}

Parts parts_of(const Tensor& x, const std::vector<TensorIndex>& indices) {
  int named = 0, ellipses = 0;
  for (const TensorIndex& i : indices) {
    named += taken(i);
    ellipses += std::holds_alternative<cotan::Ellipsis>(i.spec());
  }
  if (named > x.dim() || ellipses > 1)
    throw_with_line<IndexError>(ellipses > 1 ? "[index] more than one Ellipsis: which dimensions are they?"
                                             : fmt::format("[index] too many indices, {}, for a tensor of shape {}.",
                                                           named, describe(x.sizes())));
  Parts out{x, {}};
  int dim = 0;
  for (const TensorIndex& i : indices) {
    if (const auto* number = std::get_if<std::int64_t>(&i.spec())) {
      out.view = select(out.view, dim, *number);
    } else if (const auto* cut = std::get_if<Slice>(&i.spec())) {
      if (cut->start() || cut->stop() || cut->step() != 1)
        out.view = slice(out.view, dim, cut->start().value_or(0),
                         cut->stop().value_or(std::numeric_limits<std::int64_t>::max()), cut->step());
      ++dim;
    } else if (std::holds_alternative<None>(i.spec())) {
      out.view = unsqueeze(out.view, dim++);
    } else if (std::holds_alternative<cotan::Ellipsis>(i.spec())) {
      dim += x.dim() - named;
    } else {
      const Tensor& t = std::get<Tensor>(i.spec());
      if (t.dtype() != DType::bool_) {
        check_index(t, "index");
        out.tensors.emplace_back(dim++, t);
        continue;
      }
      for (int d = 0; d < t.dim(); ++d)
        if (t.size(d) != out.view.size(dim + d))
          throw_with_line<IndexError>(
              fmt::format("[index] a mask of shape {} does not fit dimensions {} on of shape {}.", describe(t.sizes()),
                          dim, describe(out.view.sizes())));
      const Tensor places = nonzero(t);
      for (int d = 0; d < t.dim(); ++d) out.tensors.emplace_back(dim++, select(places, 1, d));
      if (t.dim() == 0) throw_with_line<IndexError>("[index] a 0-d mask has no dimension to choose from; use where().");
    }
  }
  return out;
}

std::vector<Index> as_indices(const Arrays& tensors, const std::vector<int>& dims) {
  std::vector<Index> out(static_cast<std::size_t>(dims.back() + 1), Index(cotan::all));
  for (std::size_t k = 0; k < dims.size(); ++k) out[static_cast<std::size_t>(dims[k])] = Index(tensors[k]);
  return out;
}
std::pair<std::vector<Tensor>, std::vector<int>> unzipped(const Parts& parts) {
  std::pair<std::vector<Tensor>, std::vector<int>> out;
  for (const auto& [dim, tensor] : parts.tensors) {
    out.first.push_back(tensor);
    out.second.push_back(dim);
  }
  return out;
}
std::shared_ptr<const IndexTarget> target_of(const Tensor& x, const std::vector<TensorIndex>& indices) {
  auto out = std::make_shared<IndexTarget>();
  out->tensor = x.shared_impl();
  for (const TensorIndex& i : indices) {
    const Tensor* t = std::get_if<Tensor>(&i.spec());
    out->tensors.push_back(t ? t->shared_impl() : nullptr);
    out->indices.push_back(t ? TensorIndex(Tensor(), i.where()) : i);
  }
  return out;
}
/// The indices again, while the expression lasts that they are in.
std::vector<TensorIndex> indices_of(const IndexTarget& target) {
  std::vector<TensorIndex> out = target.indices;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::holds_alternative<Tensor>(out[i].spec()))
      out[i] = TensorIndex(Tensor(target.tensors[i].lock()), out[i].where());
  return out;
}
/// The line of the indices, where they know it.
const std::source_location& line_of(const std::vector<TensorIndex>& indices) {
  static const std::source_location nowhere;
  return indices.empty() ? nowhere : indices.front().where();
}

}  // namespace

Tensor index(const Input& x, const std::vector<TensorIndex>& indices) {
  static const auto op =
      define("index", {.saves = Saves::none}, [](const Array& a, const Arrays& tensors, const std::vector<int>& dims) {
        return cotan::detail::get_index(a, as_indices(tensors, dims));
      });
  const At at(line_of(indices));
  const Parts parts = parts_of(*x, indices);
  if (parts.tensors.empty()) return parts.view.is_same(*x) ? view(*x, x->sizes()) : parts.view;
  const auto [tensors, dims] = unzipped(parts);
  const Tensor out = op(parts.view, tensors, dims);
  out.impl().target = target_of(*x, indices);
  return out;
}

namespace {

/// The view's elements with `values` at the places of the tensors.
Tensor with_values(const Parts& parts, const Tensor& values, bool accumulate) {
  static const auto op =
      define("index_put", {},
             [](const Array& a, const Array& v, const Arrays& tensors, const std::vector<int>& dims, bool adds) {
               const IndexUpdate at(a, as_indices(tensors, dims));
               return adds ? at.add(v.astype(a.dtype())) : at.set(v.astype(a.dtype()));
             });
  const auto [tensors, dims] = unzipped(parts);
  return op(parts.view, values, tensors, dims, accumulate);
}

}  // namespace

const Tensor& index_put_(const Tensor& x, const std::vector<TensorIndex>& indices, const Operand& values,
                         bool accumulate) {
  const At at(line_of(indices));
  // One mask and one number: nothing needs to be read.
  if (indices.size() == 1 && !accumulate && (values.is_number() || values.tensor().dim() == 0))
    if (const Tensor* mask = std::get_if<Tensor>(&indices[0].spec());
        mask && mask->dtype() == DType::bool_ && mask->dim() > 0) {
      Shape sizes = mask->sizes();
      sizes.resize(static_cast<std::size_t>(std::max(x.dim(), mask->dim())), 1);
      return in_place(x, "index_put_", {}, [&] { return masked_fill(x, reshape(*mask, sizes), values); });
    }
  const Parts parts = parts_of(x, indices);
  const Tensor given = as_tensor(values, x.dtype(), x);
  if (!parts.tensors.empty())
    in_place(parts.view, "index_put_", {}, [&] { return with_values(parts, given, accumulate); });
  else if (accumulate)
    parts.view.add_(given);
  else
    parts.view.copy_(given, {});
  return x;
}
Tensor index_put(const Input& x, const std::vector<TensorIndex>& indices, const Operand& values, bool accumulate) {
  const Tensor out = clone(*x);
  index_put_(out, indices, values, accumulate);
  return out;
}

void detail::write_through(const Tensor& x, std::string_view op, const std::function<Tensor()>& f) {
  if (!x.impl().target) {
    in_place(x, op, {}, f);
    return;
  }
  const Tensor result = f();
  if (is_floating(result.dtype()) && !is_floating(x.dtype()))
    throw_with_line<TypeError>(
        fmt::format("[{}] the result is {}, which is not cast to {} in place; cast the operands.", op,
                    name(result.dtype()), name(x.dtype())));
  Tensor expression = x;
  std::move(expression) = result;
}

void Tensor::assign(const Operand& value) && {
  if (const auto target = impl().target) {
    if (const auto x = target->tensor.lock()) torch::index_put_(Tensor(x), indices_of(*target), value);
  } else if (value.is_number()) {
    fill_(value.number().real, {});
  } else {
    copy_(value.tensor(), {});
  }
}
void Tensor::operator=(const Tensor& x) && { std::move(*this).assign(Operand(x, std::source_location{})); }
void Tensor::operator=(Tensor&& x) && { std::move(*this).assign(Operand(x, std::source_location{})); }

}  // namespace cotan::torch
