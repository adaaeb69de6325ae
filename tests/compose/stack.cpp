#include "compose/stack.hpp"

#include <algorithm>
#include <cmath>

namespace compose {

namespace {

constexpr double max_evaluations = 1500;
constexpr std::int64_t max_output_elements = 150;
constexpr int max_order = 3;

// Inputs that are passed and those that are closed over -------------------------------------------

template <class T>
std::vector<T> chosen(const std::vector<T>& all, const std::vector<bool>& passed) {
  std::vector<T> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (passed[i]) out.push_back(all[i]);
  return out;
}
template <class T>
std::vector<T> merged(std::vector<T> all, const std::vector<bool>& passed, const std::vector<T>& values) {
  for (std::size_t i = 0, k = 0; i < all.size(); ++i)
    if (passed[i]) all[i] = values[k++];
  return all;
}
/// Applies `f` to the passed inputs and closes over the rest.
template <class F, class T>
auto closing_over(const F& f, const std::vector<T>& x, const std::vector<bool>& passed) {
  return [&f, &x, &passed](const std::vector<T>& values) { return f(merged(x, passed, values)); };
}

Arrays joined(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Hosts joined(Hosts a, const Hosts& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The tangents or cotangents at a point.
Arrays directions(const Transform& t, const Arrays& at) {
  Arrays out;
  for (std::size_t i = 0; i < at.size(); ++i)
    out.push_back(t.moving ? t.coefficients[i] * np::cos(at[i]) : t.coefficients[i]);
  return out;
}
Hosts directions(const Transform& t, const Hosts& at) {
  Hosts out = to_host(t.coefficients);
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t k = 0; k < at[i].values.size(); ++k)
      if (t.moving) out[i].values[k] *= std::cos(at[i].values[k]);
  return out;
}
Array weighted_sum(const Arrays& weights, const Arrays& values) {
  Array out = np::full({}, 0.0, ct::f64);
  for (std::size_t i = 0; i < values.size(); ++i) out = out + np::sum(weights[i] * values[i]);
  return out;
}

// As the library composes them ---------------------------------------------------------------------

ct::MappedAxes axes_list(const std::vector<int>& axes) {
  const auto at = [&](std::size_t i) {
    return axes[i] == ct::flat::no_axis ? ct::MappedAxes(ct::none) : ct::MappedAxes(axes[i]);
  };
  switch (axes.size()) {
    case 0:
      return ct::MappedAxes(0);
    case 1:
      return at(0);
    case 2:
      return ct::MappedAxes({at(0), at(1)});
    case 3:
      return ct::MappedAxes({at(0), at(1), at(2)});
    case 4:
      return ct::MappedAxes({at(0), at(1), at(2), at(3)});
    default:
      throw std::logic_error("more leaves than a random composition has");
  }
}
/// The axes of one argument's leaves.
ct::MappedAxes of_one_argument(const std::vector<int>& axes) {
  return axes.size() < 2 ? axes_list(axes) : ct::MappedAxes(std::initializer_list<ct::MappedAxes>{axes_list(axes)});
}

Arrays run_composed(const Transform& t, const Function& f, const Arrays& all) {
  const Function inner = closing_over(f, all, t.passed);
  const Arrays x = chosen(all, t.passed);
  switch (t.kind) {
    case Kind::jit:
      return ct::jit(inner)(x);
    case Kind::checkpoint:
      return ct::checkpoint(inner, {.policy = t.policy})(x);
    case Kind::vmap:
      return ct::vmap(inner, {.in_axes = of_one_argument(t.in_axes), .out_axes = of_one_argument(t.out_axes)})(x);
    case Kind::jvp: {
      const auto [y, ty] = ct::jvp(inner, std::tuple{x}, std::tuple{directions(t, x)});
      return joined(y, ty);
    }
    case Kind::linearize: {
      const auto [y, push] = ct::linearize(inner, x);
      return joined(y, push(directions(t, x)));
    }
    case Kind::vjp: {
      const auto [y, pull] = ct::vjp(inner, x);
      return joined(y, std::get<0>(pull(directions(t, y))));
    }
    case Kind::grad:
      return ct::grad([&](const Arrays& in) { return weighted_sum(t.coefficients, inner(in)); })(x);
    case Kind::value_and_grad: {
      const auto loss = [&](const Arrays& in) {
        const Arrays y = inner(in);
        return std::pair{weighted_sum(t.coefficients, y), y};
      };
      const auto [value, grads] = ct::value_and_grad(loss)(x);
      return joined(joined({value.first}, value.second), grads);
    }
    case Kind::jacfwd:
    case Kind::jacrev: {
      const std::vector<Arrays> rows = t.kind == Kind::jacfwd ? ct::jacfwd(inner)(x) : ct::jacrev(inner)(x);
      Arrays out;
      for (const Arrays& row : rows) out = joined(out, row);
      return out;
    }
  }
  return {};
}

// By other transforms ------------------------------------------------------------------------------

/// A function whose innermost derivative must be by reverse mode stays with reverse mode.
std::vector<Arrays> jacobian(const Function& f, const Arrays& x, bool forward) {
  return forward ? ct::jacfwd(f)(x) : ct::jacrev(f)(x);
}

Arrays run_exchanged(const Transform& t, const Function& f, const Arrays& all, bool reverse_only) {
  const Function inner = closing_over(f, all, t.passed);
  const Arrays x = chosen(all, t.passed);
  const auto pull = [&](const Arrays& cotangents) {
    const std::vector<Arrays> rows = jacobian(inner, x, !reverse_only);
    Arrays out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      out[i] = np::zeros_like(x[i]);
      for (std::size_t o = 0; o < rows.size(); ++o)
        out[i] = out[i] + np::tensordot(cotangents[o], rows[o][i], cotangents[o].ndim());
    }
    return out;
  };
  switch (t.kind) {
    case Kind::jit:
    case Kind::checkpoint:
      return inner(x);
    case Kind::vmap: {
      std::vector<Arrays> results;
      for (std::int64_t b = 0; b < t.batch; ++b) {
        Arrays slice = x;
        for (std::size_t i = 0; i < x.size(); ++i)
          if (t.in_axes[i] != ct::flat::no_axis) slice[i] = np::moveaxis(x[i], t.in_axes[i], 0)[b];
        results.push_back(inner(slice));
      }
      Arrays out;
      for (std::size_t o = 0; o < results[0].size(); ++o) {
        Arrays parts;
        for (const Arrays& r : results) parts.push_back(r[o]);
        out.push_back(np::stack(parts, t.out_axes[o]));
      }
      return out;
    }
    case Kind::jvp:
    case Kind::linearize: {
      const Arrays y = inner(x), tangents = directions(t, x);
      const std::vector<Arrays> rows = jacobian(inner, x, false);
      Arrays out = y;
      for (std::size_t o = 0; o < y.size(); ++o) {
        Array sum = np::zeros_like(y[o]);
        for (std::size_t i = 0; i < x.size(); ++i)
          sum = sum + np::tensordot(rows[o][i], tangents[i], tangents[i].ndim());
        out.push_back(sum);
      }
      return out;
    }
    case Kind::vjp: {
      const Arrays y = inner(x);
      return joined(y, pull(directions(t, y)));
    }
    case Kind::grad:
      return pull(t.coefficients);
    case Kind::value_and_grad: {
      const Arrays y = inner(x);
      return joined(joined({weighted_sum(t.coefficients, y)}, y), pull(t.coefficients));
    }
    case Kind::jacfwd:
    case Kind::jacrev: {
      Arrays out;
      for (const Arrays& row : jacobian(inner, x, t.kind == Kind::jacrev && !reverse_only)) out = joined(out, row);
      return out;
    }
  }
  return {};
}

// By loops and differences -------------------------------------------------------------------------

Hosts run_oracle(const Transform& t, const HostFunction& f, const Hosts& all) {
  const HostFunction inner = closing_over(f, all, t.passed);
  const Hosts x = chosen(all, t.passed);
  const auto pull = [&](const Hosts& cotangents) {
    const auto by_element = differences(inner, x);
    Hosts out = x;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t k = 0; k < x[i].values.size(); ++k) {
        double sum = 0;
        for (std::size_t o = 0; o < cotangents.size(); ++o)
          for (std::size_t e = 0; e < cotangents[o].values.size(); ++e)
            sum += cotangents[o].values[e] * by_element[i][k][o].values[e];
        out[i].values[k] = sum;
      }
    return out;
  };
  const auto weigh = [&](const Hosts& y) {
    const Hosts weights = to_host(t.coefficients);
    Host sum{{}, {0}};
    for (std::size_t o = 0; o < y.size(); ++o)
      for (std::size_t e = 0; e < y[o].values.size(); ++e) sum.values[0] += weights[o].values[e] * y[o].values[e];
    return sum;
  };
  switch (t.kind) {
    case Kind::jit:
    case Kind::checkpoint:
      return inner(x);
    case Kind::vmap: {
      std::vector<Hosts> results;
      for (std::int64_t b = 0; b < t.batch; ++b) {
        Hosts slice = x;
        for (std::size_t i = 0; i < x.size(); ++i)
          if (t.in_axes[i] != ct::flat::no_axis) slice[i] = slice_of(x[i], t.in_axes[i], b);
        results.push_back(inner(slice));
      }
      Hosts out;
      for (std::size_t o = 0; o < results[0].size(); ++o) {
        Hosts parts;
        for (const Hosts& r : results) parts.push_back(r[o]);
        out.push_back(stacked(parts, t.out_axes[o]));
      }
      return out;
    }
    case Kind::jvp:
    case Kind::linearize:
      return joined(inner(x), difference(inner, x, directions(t, x)));
    case Kind::vjp: {
      const Hosts y = inner(x);
      return joined(y, pull(directions(t, y)));
    }
    case Kind::grad:
      return pull(to_host(t.coefficients));
    case Kind::value_and_grad: {
      const Hosts y = inner(x);
      return joined(joined({weigh(y)}, y), pull(to_host(t.coefficients)));
    }
    case Kind::jacfwd:
    case Kind::jacrev: {
      const Hosts y = inner(x);
      const auto by_element = differences(inner, x);
      Hosts out;
      for (std::size_t o = 0; o < y.size(); ++o)
        for (std::size_t i = 0; i < x.size(); ++i) {
          Host block{y[o].shape, {}};
          block.shape.insert(block.shape.end(), x[i].shape.begin(), x[i].shape.end());
          for (std::size_t e = 0; e < y[o].values.size(); ++e)
            for (std::size_t k = 0; k < x[i].values.size(); ++k) block.values.push_back(by_element[i][k][o].values[e]);
          out.push_back(std::move(block));
        }
      return out;
    }
  }
  return {};
}

const char* name_of(Kind kind) {
  static const char* const names[] = {"jit", "checkpoint", "vmap",           "jvp",    "linearize",
                                      "vjp", "grad",       "value_and_grad", "jacfwd", "jacrev"};
  return names[static_cast<int>(kind)];
}

std::vector<Shape> joined(std::vector<Shape> a, const std::vector<Shape>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::int64_t total(const std::vector<Shape>& shapes) {
  std::int64_t n = 0;
  for (const Shape& s : shapes) n += elements(s);
  return n;
}
Arrays random_arrays(Draw& draw, const std::vector<Shape>& shapes) {
  Arrays out;
  for (const Shape& s : shapes) out.push_back(draw.array(s));
  return out;
}
std::string axis_text(int axis) { return axis == ct::flat::no_axis ? "none" : std::to_string(axis); }

}  // namespace

std::string Transform::str() const {
  std::string out = name_of(kind);
  const auto list = [&](const char* label, const std::vector<int>& axes) {
    out += std::string(" ") + label + "={";
    for (std::size_t i = 0; i < axes.size(); ++i) out += (i ? "," : "") + axis_text(axes[i]);
    out += "}";
  };
  if (kind == Kind::vmap) {
    out += " batch=" + std::to_string(batch);
    list("in_axes", in_axes);
    list("out_axes", out_axes);
  }
  if (moving) out += " moving";
  for (std::size_t i = 0; i < passed.size(); ++i)
    if (!passed[i]) out += " closes over input " + std::to_string(i) + ";";
  return out;
}

std::string Composed::str() const {
  std::string out;
  for (const Transform& t : transforms) out += "  " + t.str() + "\n";
  return out;
}

Composed base(std::shared_ptr<const RandomProgram> program) {
  Composed c;
  c.inputs = program->inputs;
  c.outputs = program->outputs;
  c.reverse_only = program->reverse_only;
  c.composed = c.exchanged = [program](const Arrays& x) { return (*program)(x); };
  c.oracle = [program](const Hosts& x) {
    const Arrays y = program->plain(to_arrays(x), trust().gap);
    for (const Array& a : y) {
      const double size = largest_magnitude(a);
      trust().largest = std::isnan(size) ? INFINITY : std::max(trust().largest, size);
    }
    return to_host(y);
  };
  return c;
}

bool transform_at_random(Composed& f, Draw& draw) {
  static const std::vector<Kind> kinds{
      Kind::jit, Kind::checkpoint, Kind::vmap, Kind::vmap,           Kind::vmap,   Kind::jvp,   Kind::linearize,
      Kind::vjp, Kind::grad,       Kind::grad, Kind::value_and_grad, Kind::jacfwd, Kind::jacrev};
  for (int tries = 0; tries < 20; ++tries) {
    Transform t;
    t.kind = draw.pick(kinds);
    if (t.differentiates() && f.order == max_order) continue;
    // Until a reverse derivative has been taken, a custom_vjp rule must meet no forward one.
    if (f.reverse_only && f.order == 0 && t.differentiates() && t.forward()) continue;
    t.passed.assign(f.inputs.size(), true);
    // A derivative that leaves inputs out would let an outer forward mode meet a custom_vjp rule through
    // them.
    if (f.inputs.size() > 1 && !(f.reverse_only && t.differentiates()) && draw.one_in(3)) {
      for (std::size_t i = 0; i < t.passed.size(); ++i) t.passed[i] = draw.one_in(2);
      t.passed[static_cast<std::size_t>(draw.below(static_cast<int>(t.passed.size())))] = true;
    }
    const std::vector<Shape> passed = chosen(f.inputs, t.passed);
    std::vector<Shape> outputs = f.outputs;
    std::vector<Shape> inputs = f.inputs;
    double cost = 1;
    const auto by_all = static_cast<double>(6 * total(passed) + 1);
    switch (t.kind) {
      case Kind::jit:
        break;
      case Kind::checkpoint: {
        static const std::vector<ct::PolicyPtr> policies{ct::policy::everything_saveable, ct::policy::nothing_saveable,
                                                         ct::policy::dots_saveable};
        t.policy = draw.pick(policies);
        break;
      }
      case Kind::vmap: {
        if (passed.size() > 4 || outputs.size() > 4) continue;
        t.batch = draw.between(1, 3);
        const int always = draw.below(static_cast<int>(passed.size()));
        for (std::size_t i = 0, k = 0; i < inputs.size(); ++i) {
          if (!t.passed[i]) continue;
          const int ndim = static_cast<int>(inputs[i].size());
          const bool mapped = static_cast<int>(k++) == always || !draw.one_in(4);
          const int axis = draw.between(-ndim - 1, ndim);
          t.in_axes.push_back(mapped ? axis : ct::flat::no_axis);
          if (mapped) inputs[i].insert(inputs[i].begin() + (axis < 0 ? axis + ndim + 1 : axis), t.batch);
        }
        for (Shape& s : outputs) {
          const int ndim = static_cast<int>(s.size()), axis = draw.between(-ndim - 1, ndim);
          t.out_axes.push_back(axis);
          s.insert(s.begin() + (axis < 0 ? axis + ndim + 1 : axis), t.batch);
        }
        cost = static_cast<double>(t.batch);
        break;
      }
      case Kind::jvp:
      case Kind::linearize:
        t.coefficients = random_arrays(draw, passed);
        t.moving = draw.one_in(2);
        outputs = joined(outputs, outputs);
        cost = 7;
        break;
      case Kind::vjp:
        t.coefficients = random_arrays(draw, outputs);
        t.moving = draw.one_in(2);
        outputs = joined(outputs, passed);
        cost = by_all;
        break;
      case Kind::grad:
        t.coefficients = random_arrays(draw, outputs);
        outputs = passed;
        cost = by_all;
        break;
      case Kind::value_and_grad:
        t.coefficients = random_arrays(draw, outputs);
        outputs = joined(joined({Shape{}}, outputs), passed);
        cost = by_all;
        break;
      case Kind::jacfwd:
      case Kind::jacrev: {
        std::vector<Shape> blocks;
        for (const Shape& o : outputs)
          for (const Shape& i : passed) {
            blocks.push_back(o);
            blocks.back().insert(blocks.back().end(), i.begin(), i.end());
          }
        outputs = blocks;
        cost = by_all;
        break;
      }
    }
    const bool third = f.order + t.differentiates() == max_order;
    if (total(outputs) > max_output_elements || (!third && f.evaluations * cost > max_evaluations)) continue;
    f.order += t.differentiates();
    f.evaluations *= cost;
    f.inputs = inputs;
    f.outputs = outputs;
    if (t.kind == Kind::jit && std::find(t.passed.begin(), t.passed.end(), false) == t.passed.end())
      // One jitted object for all calls, so that its cache serves them.
      f.composed = [jitted = ct::jit(f.composed)](const Arrays& x) { return jitted(x); };
    else
      f.composed = [t, inner = f.composed](const Arrays& x) { return run_composed(t, inner, x); };
    f.exchanged = [t, inner = f.exchanged, r = f.reverse_only](const Arrays& x) {
      return run_exchanged(t, inner, x, r);
    };
    f.oracle = [t, inner = f.oracle](const Hosts& x) { return run_oracle(t, inner, x); };
    f.transforms.push_back(std::move(t));
    return true;
  }
  return false;
}

}  // namespace compose
