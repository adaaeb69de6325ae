// Views and data movement of the fuzzer's catalogue.
#include <algorithm>
#include <numeric>

#include "native/fuzz_program.hpp"

namespace fuzz {

namespace {

bool any(const Array&) { return true; }
bool has_axis(const Array& a) { return a.ndim() > 0; }
bool has_elements(const Array& a) { return a.ndim() > 0 && a.size() > 0; }

std::vector<std::int64_t> random_order(Draw& draw, int n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (int k = n; k > 1; --k)
    std::swap(order[static_cast<std::size_t>(k - 1)], order[static_cast<std::size_t>(draw.below(k))]);
  return order;
}
Slot moved(std::string name, std::vector<std::size_t> operands, Apply apply) {
  return {std::move(name), std::move(operands), std::move(apply)};
}

// Views -----------------------------------------------------------------------------------------------

/// The same elements in random factors of their number, now and then with axes of size 1.
std::optional<Slot> reshape(const Pool& pool) {
  const auto x = pool.pick(any);
  std::int64_t rest = pool.at(*x).size();
  Shape shape;
  if (rest == 0) {
    shape = {0, pool.draw.between(0, 3)};
  } else {
    while (rest > 1 && shape.size() < 4) {
      std::vector<std::int64_t> factors;
      for (std::int64_t d = 2; d * d <= rest; ++d)
        if (rest % d == 0) factors.insert(factors.end(), {d, rest / d});
      factors.push_back(rest);
      shape.push_back(pool.draw.pick(factors));
      rest /= shape.back();
    }
    shape.push_back(rest);
    if (shape.back() == 1 && !pool.draw.one_in(4)) shape.pop_back();
    if (pool.draw.one_in(6)) shape.insert(shape.begin() + pool.draw.below(static_cast<int>(shape.size()) + 1), 1);
  }
  return moved("reshape " + text(shape), {*x}, [shape](const Arrays& v) { return v[0].reshape(shape); });
}
/// To the shape of another value with as many elements.
std::optional<Slot> reshape_like(const Pool& pool) {
  const auto x = pool.pick(any);
  const auto y =
      pool.pick([&](const Array& b) { return b.size() == pool.at(*x).size() && b.shape() != pool.at(*x).shape(); });
  if (!y) return std::nullopt;
  const Shape shape = pool.at(*y).shape();
  return moved("reshape " + text(shape), {*x}, [shape](const Arrays& v) { return v[0].reshape(shape); });
}
std::optional<Slot> transpose(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) { return a.ndim() > 1; });
  if (!x) return std::nullopt;
  const auto order = random_order(pool.draw, pool.at(*x).ndim());
  return moved("transpose " + text(order), {*x}, [order](const Arrays& v) { return lax::transpose(v[0], order); });
}
std::optional<Slot> slice(const Pool& pool) {
  const auto x = pool.pick(has_axis);
  if (!x) return std::nullopt;
  std::vector<std::int64_t> start, limit, stride;
  for (auto d : pool.at(*x).shape()) {
    const bool whole = pool.draw.one_in(2);
    start.push_back(whole ? 0 : pool.draw.below(static_cast<int>(d) + 1));
    limit.push_back(whole ? d : pool.draw.between(static_cast<int>(start.back()), static_cast<int>(d)));
    stride.push_back(pool.draw.one_in(3) ? pool.draw.between(1, 3) : 1);
    if (limit.back() == start.back() && d > start.back() && !pool.draw.one_in(10)) ++limit.back();
  }
  return moved("slice " + text(start) + text(limit) + text(stride), {*x},
               [=](const Arrays& v) { return lax::slice(v[0], start, limit, stride); });
}
std::optional<Slot> pad(const Pool& pool) {
  const auto x = pool.pick(has_axis);
  if (!x) return std::nullopt;
  std::vector<lax::PaddingConfig> config;
  std::vector<std::int64_t> shown;
  for (auto d : pool.at(*x).shape()) {
    lax::PaddingConfig c;
    if (pool.draw.one_in(2)) c = {pool.draw.between(-1, 3), pool.draw.between(-1, 3), 0};
    if (pool.draw.one_in(4)) c.interior = pool.draw.between(1, 2);
    const std::int64_t inside = d > 0 ? d + (d - 1) * c.interior : 0;
    if (inside + c.low + c.high < 0) c = {};
    config.push_back(c);
    shown.insert(shown.end(), {c.low, c.high, c.interior});
  }
  const int value = pool.draw.between(0, 2);
  return moved("pad " + std::to_string(value) + text(shown), {*x},
               [=](const Arrays& v) { return lax::pad(v[0], np::full({}, value).astype(v[0].dtype()), config); });
}
std::optional<Slot> flip(const Pool& pool) {
  const auto x = pool.pick(has_axis);
  if (!x) return std::nullopt;
  std::vector<std::int64_t> axes{pool.axis_of(pool.at(*x))};
  if (const int other = pool.axis_of(pool.at(*x)); other != axes[0]) axes.push_back(other);
  return moved("rev " + text(axes), {*x}, [axes](const Arrays& v) { return lax::rev(v[0], axes); });
}
std::optional<Slot> broadcast(const Pool& pool) {
  const auto x = pool.pick(any);
  Shape shape = pool.at(*x).shape();
  for (auto& d : shape)
    if (d == 1) d = pool.draw.between(1, 6);
  for (int more = pool.draw.below(3); more > 0; --more) shape.insert(shape.begin(), pool.draw.between(1, 6));
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  if (n > pool.options.most_elements) return std::nullopt;
  return moved("broadcast_to " + text(shape), {*x}, [shape](const Arrays& v) { return np::broadcast_to(v[0], shape); });
}
std::optional<Slot> new_axis(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) { return a.ndim() < 4; });
  if (!x) return std::nullopt;
  const int axis = pool.draw.below(pool.at(*x).ndim() + 1);
  return moved("expand_dims " + std::to_string(axis), {*x},
               [axis](const Arrays& v) { return np::expand_dims(v[0], axis); });
}
std::optional<Slot> swap_neighbours(const Pool& pool) {
  // reshape, transpose, reshape: the pattern of attention heads and pixel shuffles.
  const auto x = pool.pick([](const Array& a) { return a.ndim() > 0 && a.size() > 0; });
  if (!x) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x));
  const Shape from = pool.at(*x).shape();
  std::vector<std::int64_t> factors;
  for (std::int64_t d = 1; d <= from[static_cast<std::size_t>(axis)]; ++d)
    if (from[static_cast<std::size_t>(axis)] % d == 0) factors.push_back(d);
  const std::int64_t inner = pool.draw.pick(factors);
  return moved("shuffle axis " + std::to_string(axis) + " by " + std::to_string(inner), {*x}, [=](const Arrays& v) {
    Shape split = from;
    split[static_cast<std::size_t>(axis)] /= inner;
    split.insert(split.begin() + axis + 1, inner);
    return np::swapaxes(v[0].reshape(split), axis, axis + 1).reshape(from);
  });
}

// Movement ----------------------------------------------------------------------------------------------

std::optional<Slot> concatenate(const Pool& pool) {
  const auto x = pool.pick(has_axis);
  if (!x) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x));
  std::vector<std::size_t> parts{*x};
  for (int more = pool.draw.one_in(4) ? pool.draw.between(4, 7) : pool.draw.between(1, 3); more > 0; --more) {
    const auto y = pool.pick([&](const Array& b) {
      if (b.dtype() != pool.at(*x).dtype() || b.ndim() != pool.at(*x).ndim()) return false;
      for (int k = 0; k < b.ndim(); ++k)
        if (k != axis && b.shape(k) != pool.at(*x).shape(k)) return false;
      return true;
    });
    parts.push_back(*y);
  }
  return moved("concatenate " + std::to_string(axis), parts,
               [axis](const Arrays& v) { return lax::concatenate(v, axis); });
}
std::optional<Slot> roll(const Pool& pool) {
  const auto x = pool.pick(has_axis);
  if (!x) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x)), shift = pool.draw.between(-4, 4);
  return moved("roll " + std::to_string(shift) + " on " + std::to_string(axis), {*x},
               [=](const Arrays& v) { return np::roll(v[0], shift, axis); });
}
std::optional<Slot> repeat(const Pool& pool) {
  const auto x = pool.pick([&](const Array& a) { return a.ndim() > 0 && 3 * a.size() <= pool.options.most_elements; });
  if (!x) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x)), times = pool.draw.between(1, 3);
  if (pool.draw.one_in(2)) {
    std::vector<std::int64_t> reps(static_cast<std::size_t>(pool.at(*x).ndim()), 1);
    reps[static_cast<std::size_t>(axis)] = times;
    return moved("tile " + text(reps), {*x}, [=](const Arrays& v) { return np::tile(v[0], reps); });
  }
  return moved("repeat " + std::to_string(times) + " on " + std::to_string(axis), {*x},
               [=](const Arrays& v) { return np::repeat(v[0], times, axis); });
}
std::optional<Slot> pad_by_mode(const Pool& pool) {
  const auto x = pool.pick(
      [](const Array& a) { return a.ndim() > 0 && *std::min_element(a.shape().begin(), a.shape().end()) > 2; });
  if (!x) return std::nullopt;
  const std::string mode = pool.draw.pick(std::vector<std::string>{"edge", "reflect", "symmetric", "wrap"});
  std::vector<std::pair<std::int64_t, std::int64_t>> width;
  std::vector<std::int64_t> shown;
  for (int k = 0; k < pool.at(*x).ndim(); ++k) {
    width.push_back({pool.draw.between(0, 2), pool.draw.between(0, 2)});
    shown.insert(shown.end(), {width.back().first, width.back().second});
  }
  return moved("pad " + mode + text(shown), {*x}, [=](const Arrays& v) { return np::pad(v[0], width, mode); });
}
std::optional<Slot> triangle(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) { return a.ndim() >= 2; });
  if (!x) return std::nullopt;
  const int k = pool.draw.between(-2, 2);
  if (pool.draw.one_in(2))
    return moved("tril " + std::to_string(k), {*x}, [k](const Arrays& v) { return np::tril(v[0], k); });
  return moved("triu " + std::to_string(k), {*x}, [k](const Arrays& v) { return np::triu(v[0], k); });
}
std::optional<Slot> counted(const Pool& pool) {
  const auto x = pool.pick(has_axis);
  if (!x) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x));
  return moved("+ iota " + std::to_string(axis), {*x}, [axis](const Arrays& v) {
    return v[0] + lax::iota(v[0].dtype() == DType::bool_ ? DType::i32 : v[0].dtype(), v[0].shape(), axis);
  });
}

/// Integers that an index is made of; some point outside.
std::optional<std::size_t> pick_indices(const Pool& pool, int most_axes) {
  return pool.pick_exact([&](const Array& a) {
    return a.ndim() <= most_axes && a.size() <= 256 &&
           (a.dtype() == DType::i32 || a.dtype() == DType::i64 || a.dtype() == DType::u8);
  });
}
std::optional<Slot> take(const Pool& pool) {
  const auto x = pool.pick(has_elements);
  const auto i = pick_indices(pool, 2);
  if (!x || !i) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x));
  if (pool.at(*i).size() * (pool.at(*x).size() / pool.at(*x).shape(axis)) > pool.options.most_elements)
    return std::nullopt;
  const std::string mode = pool.draw.pick(std::vector<std::string>{"clip", "wrap"});
  return moved("take " + mode + " on " + std::to_string(axis), {*x, *i},
               [=](const Arrays& v) { return np::take(v[0], v[1], axis, mode); });
}
std::optional<Slot> fancy_index(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) { return a.ndim() >= 1 && a.ndim() <= 3 && a.size() > 0; });
  const auto i = pick_indices(pool, 1);
  if (!x || !i) return std::nullopt;
  if (pool.at(*i).size() * (pool.at(*x).size() / pool.at(*x).shape(0)) > pool.options.most_elements)
    return std::nullopt;
  return moved("x[i]", {*x, *i}, [](const Arrays& v) { return v[0](v[1]); });
}
std::optional<Slot> indexed_update(const Pool& pool) {
  const auto x = pool.pick(has_elements);
  const auto i = pick_indices(pool, 1);
  if (!x || !i) return std::nullopt;
  if (pool.draw.one_in(2))
    return moved("x.at(i).set(2)", {*x, *i}, [](const Arrays& v) { return v[0].at(v[1]).set(2); });
  return moved("x.at(i).max(2)", {*x, *i}, [](const Arrays& v) { return v[0].at(v[1]).max(2); });
}
std::optional<Slot> dynamic_slice(const Pool& pool) {
  const auto x = pool.pick(has_elements);
  const auto i = pool.pick_exact([](const Array& a) { return a.dtype() == DType::i32 && a.size() > 0; });
  if (!x || !i) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x));
  const std::int64_t size = pool.draw.between(1, static_cast<int>(pool.at(*x).shape(axis)));
  return moved("dynamic_slice of " + std::to_string(size) + " on " + std::to_string(axis), {*x, *i},
               [=](const Arrays& v) { return lax::dynamic_slice_in_dim(v[0], v[1].flatten()[0], size, axis); });
}
std::optional<Slot> dynamic_update(const Pool& pool) {
  const auto x = pool.pick(has_elements);
  const auto i = pool.pick_exact([](const Array& a) { return a.dtype() == DType::i32 && a.size() > 0; });
  if (!x || !i) return std::nullopt;
  const auto y = pool.pick([&](const Array& b) {
    if (b.dtype() != pool.at(*x).dtype() || b.ndim() != pool.at(*x).ndim()) return false;
    for (int k = 0; k < b.ndim(); ++k)
      if (b.shape(k) > pool.at(*x).shape(k)) return false;
    return true;
  });
  const int axis = pool.axis_of(pool.at(*x));
  return moved("dynamic_update_slice on " + std::to_string(axis), {*x, *y, *i},
               [=](const Arrays& v) { return lax::dynamic_update_slice_in_dim(v[0], v[1], v[2].flatten()[0], axis); });
}
/// Long chains of integer arithmetic with two results each.
std::optional<Slot> random_bits(const Pool& pool) {
  const auto x = pool.pick_exact([](const Array& a) { return is_integral(a) && a.size() > 0; });
  if (!x) return std::nullopt;
  const Shape shape{pool.draw.between(1, 5), pool.draw.between(1, 40)};
  const bool real = pool.draw.one_in(2);
  return moved(real ? "uniform " + text(shape) : "bits " + text(shape), {*x}, [=](const Arrays& v) {
    const Array key = np::stack({v[0].flatten()[0].astype(DType::u32), np::full({}, 7, DType::u32)});
    return real ? ct::random::uniform(key, shape) : ct::random::bits(key, shape);
  });
}
std::optional<Slot> sort(const Pool& pool) {
  const auto x = pool.pick_exact(has_axis);
  if (!x) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x));
  if (pool.draw.one_in(2))
    return moved("argsort " + std::to_string(axis), {*x}, [=](const Arrays& v) { return np::argsort(v[0], axis); });
  return moved("sort " + std::to_string(axis), {*x}, [=](const Arrays& v) { return np::sort(v[0], axis); });
}

}  // namespace

std::vector<Op> view_ops() {
  return {{reshape, true}, {reshape_like, true}, {transpose, true}, {transpose, true}, {slice, true},
          {pad, true},     {flip, true},         {broadcast, true}, {new_axis, true},  {swap_neighbours, true}};
}
std::vector<Op> movement_ops() {
  return {{concatenate, true},   {concatenate, true},    {roll, true}, {repeat, true},      {pad_by_mode, true},
          {triangle, true},      {counted, true},        {take, true}, {fancy_index, true}, {indexed_update, true},
          {dynamic_slice, true}, {dynamic_update, true}, {sort, true}, {random_bits, true}};
}

}  // namespace fuzz
