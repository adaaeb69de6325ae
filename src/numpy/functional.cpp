// Functions of functions: vmap over axes that broadcast, over all but one axis, and over the elements of a grid.
#include <cotan/numpy.hpp>
#include <map>

#include "core/construct.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

std::string argument_name(std::size_t i) { return "argument " + std::to_string(i); }
/// f mapped over these axes of its arguments; the axis comes first in all results.
Arrays mapped(const FlatFn& f, std::span<const Array> x, const std::vector<int>& axes, int out_axis = 0) {
  return flat::vmap(f, x, axes, [out_axis](std::size_t n) { return std::vector<int>(n, out_axis); }, argument_name);
}

}  // namespace

Array apply_along_axis(const std::function<Array(const Array&)>& f, int axis, const ArrayLike& a) {
  const int n = a->ndim(), at = resolve_axis(axis, n, "apply_along_axis");
  // The line is last, all other axes are one, which is mapped over.
  const Array lines = moveaxis(a, at, -1);
  Shape others = lines.shape();
  const std::int64_t length = others.back();
  others.pop_back();
  const Array flat[] = {reshape(lines, {element_count(others), length})};
  const Array out = mapped([&](std::span<const Array> x) { return Arrays{f(x[0])}; }, flat, {0})[0];
  Shape shape = others;
  shape.insert(shape.end(), out.shape().begin() + 1, out.shape().end());
  // The axes of the result take the place of the line.
  std::vector<int> from, to;
  for (int i = 0; i < out.ndim() - 1; ++i) {
    from.push_back(n - 1 + i);
    to.push_back(at + i);
  }
  const Array back = reshape(out, shape);
  return from.empty() ? back : moveaxis(back, from, to);
}

Array apply_over_axes(const std::function<Array(const Array&, int)>& f, const ArrayLike& a,
                      const std::vector<int>& axes) {
  Array out = a;
  for (int axis : axes) {
    const Array next = f(out, axis);
    if (next.ndim() == out.ndim())
      out = next;
    else if (next.ndim() == out.ndim() - 1)
      out = expand_dims(next, axis);
    else
      raise<ShapeError>("[apply_over_axes] the function makes {} of {}; it must keep the axes, or take one away.",
                        next.aval(), out.aval());
  }
  return out;
}

// vectorize ---------------------------------------------------------------------------------------

namespace {

using Names = std::vector<std::string>;
struct Signature {
  std::vector<Names> inputs;
  std::optional<std::vector<Names>> outputs;
};

[[noreturn]] void bad_signature(const std::string& text) {
  raise<ValueError>("[vectorize] the signature '{}' cannot be read; write it as \"(m,n),(n)->(m)\".", text);
}
/// "(m,n),(n)" as names of axes.
std::vector<Names> parse_side(std::string_view side, const std::string& whole) {
  std::vector<Names> out;
  for (std::size_t at = 0; at < side.size();) {
    if (side[at] != '(') bad_signature(whole);
    const std::size_t end = side.find(')', at);
    if (end == side.npos) bad_signature(whole);
    Names names;
    for (std::size_t i = at + 1; i < end;) {
      const std::size_t comma = std::min(side.find(',', i), end);
      if (comma == i) bad_signature(whole);
      names.emplace_back(side.substr(i, comma - i));
      i = comma + 1;
    }
    out.push_back(names);
    at = end + 1;
    if (at < side.size() && (side[at] != ',' || ++at == side.size())) bad_signature(whole);
  }
  return out;
}
Signature parse_signature(const std::string& given, std::size_t arguments) {
  if (given.empty()) return {std::vector<Names>(arguments), std::nullopt};
  std::string text;
  for (char c : given)
    if (c != ' ') text += c;
  const auto arrow = text.find("->");
  if (arrow == text.npos) bad_signature(given);
  const std::string_view all = text;
  return {parse_side(all.substr(0, arrow), given), parse_side(all.substr(arrow + 2), given)};
}

/// Sizes of named axes, which must be equal wherever a name is.
class Sizes {
 public:
  void note(const std::string& name, std::int64_t size) {
    const auto [at, is_new] = sizes_.emplace(name, size);
    if (!is_new && at->second != size)
      raise<ShapeError>("[vectorize] the axis {} has the sizes {} and {}; they must be equal.", name, at->second, size);
  }
  void note(const Names& names, const Array& a, std::size_t from, std::string_view what) {
    if (a.shape().size() != from + names.size())
      raise<ShapeError>("[vectorize] {} is {}, but the signature names {} axes; they must be as many.", what, a.aval(),
                        names.size());
    for (std::size_t i = 0; i < names.size(); ++i) note(names[i], a.shape()[from + i]);
  }

 private:
  std::map<std::string, std::int64_t> sizes_;
};

}  // namespace

Arrays detail::vectorized(const FlatFn& f, const VectorizeOptions& options, const Arrays& arguments) {
  std::vector<bool> taken_as_is(arguments.size(), false);
  for (int i : options.excluded) {
    if (i < 0 || static_cast<std::size_t>(i) >= arguments.size())
      raise<ValueError>("[vectorize] argument {} is excluded, but there are {}; count them from 0.", i,
                        arguments.size());
    taken_as_is[static_cast<std::size_t>(i)] = true;
  }
  Arrays mapped_arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!taken_as_is[i]) mapped_arguments.push_back(arguments[i]);
  const Signature signature = parse_signature(options.signature, mapped_arguments.size());
  if (signature.inputs.size() != mapped_arguments.size())
    raise<ValueError>("[vectorize] the signature '{}' is of {} arguments, but {} are given; name the axes of each.",
                      options.signature, signature.inputs.size(), mapped_arguments.size());

  Sizes sizes;
  std::vector<Shape> outer;
  for (std::size_t i = 0; i < mapped_arguments.size(); ++i) {
    const Array& a = mapped_arguments[i];
    const std::size_t core = signature.inputs[i].size();
    if (a.shape().size() < core)
      raise<ShapeError>(
          "[vectorize] argument {} is {}, but the signature names {} axes of it; give it at least as many.", i,
          a.aval(), core);
    outer.emplace_back(a.shape().begin(), a.shape().end() - static_cast<std::ptrdiff_t>(core));
    sizes.note(signature.inputs[i], a, outer.back().size(), argument_name(i));
  }
  const Shape broadcast = broadcast_shapes("vectorize", outer);

  const auto call = [&](std::span<const Array> x) {
    Arrays all;
    for (std::size_t i = 0, k = 0; i < arguments.size(); ++i) all.push_back(taken_as_is[i] ? arguments[i] : x[k++]);
    const Arrays out = f(all);
    if (signature.outputs) {
      if (out.size() != signature.outputs->size())
        raise<ValueError>(
            "[vectorize] the signature '{}' is of {} results, but the function gives {}; name the axes of each.",
            options.signature, signature.outputs->size(), out.size());
      for (std::size_t i = 0; i < out.size(); ++i) sizes.note((*signature.outputs)[i], out[i], 0, "a result");
    }
    return out;
  };
  // From the last axis in front to the first, each around those before; axes of size 1 are not mapped.
  std::function<Arrays(std::span<const Array>, std::size_t)> over = [&](std::span<const Array> x,
                                                                        std::size_t axis) -> Arrays {
    if (axis == broadcast.size()) return call(x);
    Arrays rest(x.begin(), x.end());
    std::vector<int> axes;
    bool any_mapped = false;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const bool has_axis = outer[i].size() >= broadcast.size() - axis;
      const bool whole = has_axis && rest[i].shape()[0] == broadcast[axis] && broadcast[axis] != 1;
      if (has_axis && !whole) rest[i] = squeeze(rest[i], 0);
      axes.push_back(whole ? 0 : flat::no_axis);
      any_mapped |= whole;
    }
    if (any_mapped) return mapped([&](std::span<const Array> in) { return over(in, axis + 1); }, rest, axes);
    Arrays out = over(rest, axis + 1);
    for (Array& each : out) each = expand_dims(each, 0);
    return out;
  };
  return over(mapped_arguments, 0);
}

Array detail::from_grid(const FlatFn& f, const Shape& shape, DType dtype) {
  // The last index is mapped over first, so that it is the last axis of the results but those of f.
  std::function<Arrays(std::span<const Array>, std::size_t)> over = [&](std::span<const Array> x, std::size_t axis) {
    if (axis == shape.size()) return f(x);
    std::vector<int> axes(shape.size(), flat::no_axis);
    axes[axis] = 0;
    return mapped([&](std::span<const Array> in) { return over(in, axis + 1); }, x, axes);
  };
  Arrays indices;
  for (auto n : shape) {
    if (n < 0) raise<ValueError>("[fromfunction] size {} is negative; give 0 or more.", n);
    indices.push_back(arange(n, dtype));
  }
  return over(indices, 0)[0];
}

}  // namespace cotan::numpy
