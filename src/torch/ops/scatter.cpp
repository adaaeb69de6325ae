// Elements written by indices, into a copy.
#include <fmt/format.h>

#include <cotan/torch/gathering.hpp>
#include <limits>

#include "torch/ops/families.hpp"
#include "torch/ops/indices.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

/// The part of `src` that an index of that shape has room for; a 0-d one for all.
Array part_of(const Array& src, const Array& index, DType t) {
  Array out = src.astype(t);
  if (src.ndim() != index.ndim()) return numpy::broadcast_to(out, index.shape());
  for (int d = 0; d < out.ndim(); ++d) out = lax::slice_in_dim(out, 0, index.shape(d), 1, d);
  return out;
}
/// Slices along an axis.
std::vector<Index> slices(const Array& index, int axis) {
  std::vector<Index> out(static_cast<std::size_t>(axis), Index(cotan::all));
  out.emplace_back(as_vector(index));
  return out;
}

void check_fits(const Tensor& x, const Tensor& index, const Tensor& src, int axis, std::string_view op) {
  check_index(index, op);
  bool fits = std::max(x.dim(), 1) == std::max(index.dim(), 1);
  for (int d = 0; fits && d < x.dim() && d < index.dim(); ++d) fits = d == axis || index.size(d) <= x.size(d);
  if (fits && src.dim() > 0)
    for (int d = 0; fits && d < index.dim(); ++d) fits = src.dim() == index.dim() && index.size(d) <= src.size(d);
  if (!fits && index.numel() > 0)
    throw_with_line<ShapeError>(fmt::format(
        "[{}] an index of shape {} and a source of shape {} do not fit shape {}; the index is not larger than "
        "either, but in dimension {} than the tensor.",
        op, describe(index.sizes()), describe(src.sizes()), describe(x.sizes()), axis));
}
void check_source_dtype(const Tensor& x, const Tensor& src, std::string_view op) {
  if (x.dtype() != src.dtype())
    throw_with_line<TypeError>(
        fmt::format("[{}] the source is {}, the tensor {}; cast one.", op, name(src.dtype()), name(x.dtype())));
}
void check_slices(const Tensor& x, const Tensor& index, const Tensor& source, int axis, std::string_view op) {
  check_index(index, op);
  bool fits = index.dim() <= 1 && source.dim() == x.dim();
  for (int d = 0; fits && d < x.dim(); ++d) fits = source.size(d) == (d == axis ? index.numel() : x.size(d));
  if (!fits)
    throw_with_line<ShapeError>(fmt::format(
        "[{}] an index of shape {} and a source of shape {} do not fit shape {}; the source has a slice per "
        "index in dimension {}.",
        op, describe(index.sizes()), describe(source.sizes()), describe(x.sizes()), axis));
}

}  // namespace

Tensor scatter(const Input& x, int dim, const Input& index, const Operand& src) {
  static const auto op =
      define("scatter", {.saves = Saves::second}, [](const Array& a, const Array& i, const Array& s, int axis) {
        const Array at = as_vector(i);
        return IndexUpdate(as_vector(a), places(at, axis)).set(part_of(as_vector(s), at, a.dtype())).reshape(a.shape());
      });
  const Tensor source = as_tensor(src, x->dtype(), *x);
  if (!src.is_number()) check_source_dtype(*x, source, "scatter");
  const int axis = wrap_dim(dim, x->dim(), "scatter");
  check_fits(*x, *index, source, axis, "scatter");
  return op(*x, *index, source, axis);
}
Tensor scatter_add(const Input& x, int dim, const Input& index, const Input& src) {
  static const auto op =
      define("scatter_add", {.saves = Saves::second}, [](const Array& a, const Array& i, const Array& s, int axis) {
        const Array at = as_vector(i);
        return IndexUpdate(as_vector(a), places(at, axis)).add(part_of(as_vector(s), at, a.dtype())).reshape(a.shape());
      });
  check_source_dtype(*x, *src, "scatter_add");
  const int axis = wrap_dim(dim, x->dim(), "scatter_add");
  check_fits(*x, *index, *src, axis, "scatter_add");
  return op(*x, *index, *src, axis);
}

namespace {

enum class Reduce : std::uint8_t { sum, prod, mean, amax, amin };
Reduce reduction_named(std::string_view text) {
  const std::pair<std::string_view, Reduce> known[] = {{"sum", Reduce::sum},
                                                       {"prod", Reduce::prod},
                                                       {"mean", Reduce::mean},
                                                       {"amax", Reduce::amax},
                                                       {"amin", Reduce::amin}};
  for (const auto& [name_of, reduce] : known)
    if (name_of == text) return reduce;
  throw_with_line<ValueError>(
      fmt::format("[scatter_reduce] reduce is '{}'; it may be 'sum', 'prod', 'mean', 'amax' or 'amin'.", text));
}
/// What has no part in the reduction.
Array neutral(Reduce reduce, const Array& like) {
  const DType t = like.dtype();
  if (reduce == Reduce::prod) return numpy::ones({}, t);
  if (reduce == Reduce::sum || reduce == Reduce::mean) return numpy::zeros({}, t);
  const bool lowest = reduce == Reduce::amax;
  if (is_floating(t)) {
    const double infinite = std::numeric_limits<double>::infinity();
    return numpy::full({}, lowest ? -infinite : infinite, t);
  }
  const numpy::iinfo info(t);
  return numpy::full({}, lowest ? info.min : static_cast<std::int64_t>(info.max), t);
}

Array scatter_reduced(const Array& a, const Array& i, const Array& s, int axis, Reduce reduce, bool include_self) {
  const Array at = as_vector(i), source = part_of(as_vector(s), at, a.dtype());
  const auto where_to = places(at, axis);
  Array to = as_vector(a);
  const Array count = IndexUpdate(numpy::zeros(to.shape(), i32), where_to).add(numpy::ones(at.shape(), i32));
  if (!include_self) to = numpy::where(count > 0, neutral(reduce, a), to);
  Array out;
  switch (reduce) {
    case Reduce::sum:
    case Reduce::mean:
      out = IndexUpdate(to, where_to).add(source);
      break;
    case Reduce::prod:
      out = IndexUpdate(to, where_to).multiply(source);
      break;
    case Reduce::amax:
      out = IndexUpdate(to, where_to).max(source);
      break;
    case Reduce::amin:
      out = IndexUpdate(to, where_to).min(source);
      break;
  }
  if (reduce == Reduce::mean) {
    const Array n = numpy::maximum(count + (include_self ? 1 : 0), 1).astype(a.dtype());
    out = is_inexact(a.dtype()) ? out / n : numpy::floor_divide(out, n);
  }
  return out.reshape(a.shape());
}

}  // namespace

Tensor scatter_reduce(const Input& x, int dim, const Input& index, const Input& src, std::string_view reduce,
                      bool include_self) {
  static const auto op = define("scatter_reduce", {.saves = Saves::operands},
                                [](const Array& a, const Array& i, const Array& s, int axis, Reduce how, bool self) {
                                  return scatter_reduced(a, i, s, axis, how, self);
                                });
  check_source_dtype(*x, *src, "scatter_reduce");
  const int axis = wrap_dim(dim, x->dim(), "scatter_reduce");
  check_fits(*x, *index, *src, axis, "scatter_reduce");
  return op(*x, *index, *src, axis, reduction_named(reduce), include_self);
}

Tensor index_add(const Input& x, int dim, const Input& index, const Input& source, double alpha) {
  static const auto op =
      define("index_add", {.saves = Saves::second}, [](const Array& a, const Array& i, const Array& s, int axis) {
        return IndexUpdate(as_vector(a), slices(i, axis)).add(as_vector(s)).reshape(a.shape());
      });
  const int axis = wrap_dim(dim, x->dim(), "index_add");
  check_source_dtype(*x, *source, "index_add");
  check_slices(*x, *index, *source, axis, "index_add");
  return op(*x, *index, alpha == 1 ? *source : mul(*source, alpha), axis);
}
Tensor index_copy(const Input& x, int dim, const Input& index, const Input& source) {
  static const auto op =
      define("index_copy", {.saves = Saves::second}, [](const Array& a, const Array& i, const Array& s, int axis) {
        return IndexUpdate(as_vector(a), slices(i, axis)).set(as_vector(s)).reshape(a.shape());
      });
  const int axis = wrap_dim(dim, x->dim(), "index_copy");
  check_source_dtype(*x, *source, "index_copy");
  check_slices(*x, *index, *source, axis, "index_copy");
  return op(*x, *index, *source, axis);
}
Tensor index_fill(const Input& x, int dim, const Input& index, const Operand& value) {
  static const auto op =
      define("index_fill", {.saves = Saves::second}, [](const Array& a, const Array& i, const Array& v, int axis) {
        return IndexUpdate(as_vector(a), slices(i, axis)).set(v.astype(a.dtype())).reshape(a.shape());
      });
  check_index(*index, "index_fill");
  return op(*x, *index, as_tensor(value, x->dtype(), *x), wrap_dim(dim, x->dim(), "index_fill"));
}

}  // namespace cotan::torch
