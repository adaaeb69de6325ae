// The loops and branches of random programs, each with its twin in C++.
#include "control/fuzz_program.hpp"

namespace control {

namespace {

constexpr std::int64_t max_stacked = 24;

/// Some values, by number.
std::vector<std::size_t> some(Draw& draw, std::size_t values, int least, int most) {
  std::vector<std::size_t> out;
  for (int n = draw.between(least, most); n > 0; --n) out.push_back(pick(draw, values));
  return out;
}
Arrays chosen(const Arrays& values, const std::vector<std::size_t>& which) {
  Arrays out;
  for (std::size_t i : which) out.push_back(values[i]);
  return out;
}
Arrays joined(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::string list(const std::vector<std::size_t>& values) {
  std::string out;
  for (std::size_t v : values) out += " " + value_name(v);
  return "{" + out + " }";
}
/// The arguments of a body follow the values that it captures.
std::string arguments(std::size_t captured, std::size_t all) {
  std::string out;
  for (std::size_t v = captured; v < all; ++v) out += " " + value_name(v);
  return " with" + out + "\n";
}
Limits inner(const Limits& l) { return {l.depth - 1, l.nodes, l.allow_while}; }

/// A block over `values` (the captured ones and its own arguments) whose first results are the next carries.
std::shared_ptr<Block> body_for(Draw& draw, std::vector<Shape> values, const std::vector<Shape>& carries,
                                const Limits& limits) {
  auto block = std::make_shared<Block>(random_block(draw, values, inner(limits)));
  for (const Shape& s : carries) {
    const std::size_t from = pick(draw, values.size());
    // Now and then exactly what it was, or what another value is: carries that stay, move or are set.
    const bool exact = values[from] == s && draw.one_in(4);
    block->results.push_back({from, s, !exact});
  }
  return block;
}
/// Adds up to `most` results to a body, of which `n` will be stacked.
void add_outputs(Draw& draw, Block& block, const std::vector<Shape>& given, int most, std::int64_t n) {
  std::vector<Shape> values = given;
  for (const Node& node : block.nodes) values.insert(values.end(), node.results.begin(), node.results.end());
  for (int k = draw.below(most + 1); k > 0; --k) {
    const std::size_t from = pick(draw, values.size());
    block.results.push_back({from, elements(values[from]) * n <= max_stacked ? values[from] : Shape{}, false});
  }
}
/// Slices along the first axis.
Arrays slices(const Arrays& xs, std::int64_t i) {
  Arrays out;
  for (const Array& x : xs) out.push_back(x[i]);
  return out;
}

Node random_scan(Draw& draw, const std::vector<Shape>& values, const Limits& limits) {
  const std::vector<std::size_t> carries = some(draw, values.size(), 0, 3);
  std::vector<std::size_t> xs;
  std::int64_t length = draw.between(1, 4);
  if (!draw.one_in(5)) {
    std::vector<std::size_t> long_ones;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!values[i].empty()) long_ones.push_back(i);
    if (!long_ones.empty()) {
      xs.push_back(draw.pick(long_ones));
      length = values[xs[0]][0];
      for (std::size_t i : long_ones)
        if (values[i][0] == length && draw.one_in(3)) xs.push_back(i);
    }
  }
  std::vector<Shape> in = values, carried;
  for (std::size_t c : carries) carried.push_back(values[c]);
  in.insert(in.end(), carried.begin(), carried.end());
  for (std::size_t x : xs) in.emplace_back(values[x].begin() + 1, values[x].end());
  const auto body = body_for(draw, in, carried, limits);
  add_outputs(draw, *body, in, 2, length);
  if (body->results.empty()) body->results.push_back({in.size() - 1, Shape{}, false});

  lax::ScanOptions options{.reverse = draw.one_in(2), .unroll = draw.between(1, 3)};
  const int checkpoint = draw.below(6);
  if (checkpoint > 3) options.checkpoint = checkpoint == 4 ? ct::sqrt_n : ct::ScanCheckpoint(2);
  Node node;
  node.forward_only = body->forward_only;
  node.results = carried;
  for (std::size_t k = carries.size(); k < body->results.size(); ++k) {
    Shape stacked = body->results[k].shape;
    stacked.insert(stacked.begin(), length);
    node.results.push_back(stacked);
  }
  node.text = "scan(carry " + list(carries) + ", xs " + list(xs) + ", length " + std::to_string(length) +
              (options.reverse ? ", reverse" : "") + ", unroll " + std::to_string(options.unroll) + ", checkpoint " +
              std::to_string(options.checkpoint.steps()) + ")" + arguments(values.size(), in.size()) +
              body->str("    ");
  node.run = [=](const Arrays& v, Way way) {
    const Arrays init = chosen(v, carries), inputs = chosen(v, xs);
    const auto step = [&](const Arrays& c, const Arrays& x) {
      const Arrays out = (*body)(joined(joined(v, c), x), way);
      const auto middle = out.begin() + static_cast<std::ptrdiff_t>(carries.size());
      return std::pair{Arrays(out.begin(), middle), Arrays(middle, out.end())};
    };
    if (way == Way::lax) {
      const auto [c, ys] =
          inputs.empty() ? lax::scan([&](const Arrays& c) { return step(c, {}); }, init, lax::length(length), options)
                         : lax::scan(step, init, inputs, options);
      return joined(c, ys);
    }
    Arrays c = init;
    std::vector<Arrays> ys(static_cast<std::size_t>(length));
    for (std::int64_t k = 0; k < length; ++k) {
      const std::int64_t i = options.reverse ? length - 1 - k : k;
      std::tie(c, ys[static_cast<std::size_t>(i)]) = step(c, slices(inputs, i));
    }
    for (std::size_t j = 0; j < ys[0].size(); ++j) {
      Arrays rows;
      for (const Arrays& y : ys) rows.push_back(y[j]);
      c.push_back(np::stack(rows));
    }
    return c;
  };
  return node;
}

/// The counter, as a float, is one more value of the body.
Array as_value(const Array& i) { return i.astype(ct::f64) * 0.25; }

Node random_fori(Draw& draw, const std::vector<Shape>& values, const Limits& limits) {
  const std::vector<std::size_t> carries = some(draw, values.size(), 1, 2);
  std::vector<Shape> in = values, carried;
  for (std::size_t c : carries) carried.push_back(values[c]);
  in.insert(in.end(), carried.begin(), carried.end());
  in.push_back({});
  const auto body = body_for(draw, in, carried, limits);
  const int from = draw.between(-1, 1), to = from + draw.between(0, 3);
  Node node;
  node.forward_only = body->forward_only;
  node.results = carried;
  node.text = "fori_loop(" + std::to_string(from) + ", " + std::to_string(to) + ", carry " + list(carries) + ")" +
              arguments(values.size(), in.size()) + body->str("    ");
  node.run = [=](const Arrays& v, Way way) {
    const auto step = [&](const Array& i, const Arrays& c) {
      return (*body)(joined(joined(v, c), {as_value(i)}), way);
    };
    if (way == Way::lax) return lax::fori_loop(from, to, step, chosen(v, carries));
    Arrays c = chosen(v, carries);
    for (int i = from; i < to; ++i) c = step(np::array(i), c);
    return c;
  };
  return node;
}

/// At most four steps, fewer where a sum grows past a limit.
Node random_while(Draw& draw, const std::vector<Shape>& values, const Limits& limits) {
  const std::vector<std::size_t> carries = some(draw, values.size(), 1, 2);
  std::vector<Shape> in = values, carried;
  for (std::size_t c : carries) carried.push_back(values[c]);
  in.insert(in.end(), carried.begin(), carried.end());
  in.push_back({});
  const auto body = body_for(draw, in, carried, limits);
  const int most = draw.between(0, 4);
  const double limit = draw.uniform(-0.5, 1.5);
  Node node;
  node.forward_only = true;
  node.results = carried;
  node.text = "while_loop(at most " + std::to_string(most) + ", sum below " + std::to_string(limit) + ", carry " +
              list(carries) + ")" + arguments(values.size(), in.size()) + body->str("    ");
  node.run = [=](const Arrays& v, Way way) {
    using Carry = std::pair<Arrays, Array>;
    const auto condition = [&](const Carry& c) { return (c.second < most) & (np::sum(c.first[0]) < limit); };
    const auto step = [&](const Carry& c) {
      return Carry{(*body)(joined(joined(v, c.first), {as_value(c.second)}), way), c.second + 1};
    };
    Carry c{chosen(v, carries), 0};
    if (way == Way::lax) return lax::while_loop(condition, step, c).first;
    for (int i = 0; i < most; ++i) {
      const Array runs = condition(c);
      const Carry next = step(c);
      for (std::size_t k = 0; k < c.first.size(); ++k) c.first[k] = np::where(runs, next.first[k], c.first[k]);
      c.second = np::where(runs, next.second, c.second);
    }
    return c.first;
  };
  return node;
}

Node random_branch(Draw& draw, const std::vector<Shape>& values, const Limits& limits) {
  const int count = draw.between(2, 3);
  const std::size_t by = pick(draw, values.size());
  std::vector<Shape> results;
  for (int n = draw.between(1, 2); n > 0; --n) results.push_back(values[pick(draw, values.size())]);
  std::vector<BlockPtr> blocks;
  Node node;
  node.results = results;
  node.text = (count == 2 ? "cond(" : "switch_(") + value_name(by) + ")\n";
  for (int b = 0; b < count; ++b) {
    const auto block = body_for(draw, values, results, limits);
    node.text += "  branch " + std::to_string(b) + "\n" + block->str("    ");
    node.forward_only |= block->forward_only;
    blocks.push_back(block);
  }
  node.run = [=](const Arrays& v, Way way) {
    const Array s = np::sum(v[by]), index = np::clip(np::floor(s * 2 + 1).astype(ct::i32), 0, count - 1);
    const auto run = [&](std::size_t b) { return [&, b](const Arrays& in) { return (*blocks[b])(in, way); }; };
    if (way == Way::lax && count == 2) return lax::cond(s > 0, run(1), run(0), v);
    if (way == Way::lax) return lax::switch_(index, std::tuple{run(0), run(1), run(2)}, v);
    Arrays out = run(0)(v);
    for (std::size_t b = 1; b < blocks.size(); ++b) {
      const Array taken = count == 2 ? s > 0 : index == static_cast<int>(b);
      const Arrays other = run(b)(v);
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = np::where(taken, other[k], out[k]);
    }
    return out;
  };
  return node;
}

Node random_map(Draw& draw, const std::vector<Shape>& values, const Limits& limits) {
  std::vector<std::size_t> long_ones;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].empty()) long_ones.push_back(i);
  if (long_ones.empty()) return random_branch(draw, values, limits);
  const std::size_t xs = draw.pick(long_ones);
  const std::int64_t n = values[xs][0];
  std::vector<Shape> in = values;
  in.emplace_back(values[xs].begin() + 1, values[xs].end());
  const auto body = body_for(draw, in, {}, limits);
  add_outputs(draw, *body, in, 1, n);
  body->results.push_back({in.size() - 1, in.back(), true});
  lax::MapOptions options;
  if (draw.one_in(2)) options.batch_size = draw.between(1, 3);
  Node node;
  node.forward_only = body->forward_only;
  for (const Block::Result& r : body->results) {
    node.results.push_back(r.shape);
    node.results.back().insert(node.results.back().begin(), n);
  }
  node.text = "map(" + value_name(xs) + ", batch size " + std::to_string(options.batch_size.value_or(0)) + ")" +
              arguments(values.size(), in.size()) + body->str("    ");
  node.run = [=](const Arrays& v, Way way) {
    const auto f = [&](const Array& x) { return (*body)(joined(v, {x}), way); };
    if (way == Way::lax) return lax::map(f, v[xs], options);
    std::vector<Arrays> rows;
    for (std::int64_t i = 0; i < n; ++i) rows.push_back(f(v[xs][i]));
    Arrays out;
    for (std::size_t k = 0; k < rows[0].size(); ++k) {
      Arrays column;
      for (const Arrays& r : rows) column.push_back(r[k]);
      out.push_back(np::stack(column));
    }
    return out;
  };
  return node;
}

/// x -> a x + b, composed; a and b made from one value.
Node random_associative(Draw& draw, const std::vector<Shape>& values, const Limits& limits) {
  std::vector<std::size_t> long_ones;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].empty()) long_ones.push_back(i);
  if (long_ones.empty()) return random_fori(draw, values, limits);
  const std::size_t from = draw.pick(long_ones), by = pick(draw, values.size());
  const int axis = draw.below(static_cast<int>(values[from].size()));
  const bool reverse = draw.one_in(2);
  Node node;
  node.results = {values[from], values[from]};
  node.text = "associative_scan(affine maps of " + value_name(from) + ", scaled by " + value_name(by) + ", axis " +
              std::to_string(axis) + (reverse ? ", reverse)" : ")");
  node.run = [=](const Arrays& v, Way way) {
    using Map = std::pair<Array, Array>;
    const Array scale = 0.5 * np::tanh(np::mean(v[by]));
    const auto combine = [](const Map& l, const Map& r) {
      return Map{r.first * l.first, r.first * l.second + r.second};
    };
    const Map all{np::cos(v[from]) * scale, v[from]};
    if (way == Way::lax) {
      const Map out = lax::associative_scan(combine, all, {.reverse = reverse, .axis = axis});
      return Arrays{out.first, out.second};
    }
    const Array a = np::moveaxis(all.first, axis, 0), b = np::moveaxis(all.second, axis, 0);
    const std::int64_t n = a.shape(0);
    Arrays as(static_cast<std::size_t>(n)), bs(static_cast<std::size_t>(n));
    Map so_far;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t i = reverse ? n - 1 - k : k;
      so_far = k == 0 ? Map{a[i], b[i]} : combine(so_far, {a[i], b[i]});
      as[static_cast<std::size_t>(i)] = so_far.first;
      bs[static_cast<std::size_t>(i)] = so_far.second;
    }
    return Arrays{np::moveaxis(np::stack(as), 0, axis), np::moveaxis(np::stack(bs), 0, axis)};
  };
  return node;
}

}  // namespace

Node random_loop(Draw& draw, const std::vector<Shape>& values, const Limits& limits) {
  switch (draw.below(limits.allow_while ? 8 : 7)) {
    case 0:
    case 1:
    case 2:
      return random_scan(draw, values, limits);
    case 3:
      return random_fori(draw, values, limits);
    case 4:
      return random_branch(draw, values, limits);
    case 5:
      return random_map(draw, values, limits);
    case 6:
      return random_associative(draw, values, limits);
    default:
      return random_while(draw, values, limits);
  }
}

}  // namespace control
