// The catalogue's calls: random sub-programs behind jit, checkpoint, custom rules and vmap, some closing over
// a value of the surrounding program, and derivatives taken inside a program. `plain` says the same without
// them.
#include "compose/random_program.hpp"

namespace compose {

namespace {

using Sub = std::shared_ptr<const RandomProgram>;
using Function = std::function<Arrays(const Arrays&)>;

/// A small program of one output for operands like these.
Sub sub_program(Draw& draw, const Arrays& like) {
  std::vector<Shape> shapes;
  for (const Array& a : like) shapes.push_back(a.shape());
  RandomProgram p = random_program(draw, shapes, {.min_nodes = 1, .max_nodes = 4, .allow_calls = false});
  p.results.resize(1);
  p.outputs.resize(1);
  return std::make_shared<const RandomProgram>(std::move(p));
}
/// A node that runs `p` through `call`, and plainly for the oracle.
Body called(const Sub& p, std::function<Arrays(const Function& f, const Arrays& operands)> call) {
  return {
      [p, call = std::move(call)](const Arrays& v) { return call([p](const Arrays& in) { return (*p)(in); }, v)[0]; },
      [p](const Arrays& v) {
        double unused = 1;
        return p->plain(v, unused)[0];
      },
      [p](const Arrays& v) {
        double gap = std::numeric_limits<double>::infinity();
        p->plain(v, gap);
        return gap;
      }};
}
/// The same where the first operand is closed over instead of passed.
Body closed_over(const Sub& p, std::function<Arrays(const Function& f, const Arrays& operands)> call) {
  return called(p, [call = std::move(call)](const Function& f, const Arrays& v) {
    const Array outer = v[0];
    const Function inner = [f, outer](const Arrays& rest) {
      Arrays all{outer};
      all.insert(all.end(), rest.begin(), rest.end());
      return f(all);
    };
    return call(inner, Arrays(v.begin() + 1, v.end()));
  });
}

ct::PolicyPtr random_policy(Draw& draw) {
  static const std::vector<ct::PolicyPtr> policies{
      ct::policy::everything_saveable, ct::policy::nothing_saveable, ct::policy::dots_saveable,
      ct::policy::dots_with_no_batch_dims_saveable, ct::policy::save_only_these_names({"kept"})};
  return draw.pick(policies);
}

}  // namespace

std::vector<Op> call_ops() {
  return {
      {"jit_call", 2,
       [](Draw& draw, const Arrays& like) {
         return called(sub_program(draw, like), [](const Function& f, const Arrays& v) { return ct::jit(f)(v); });
       }},
      {"jit_closure", 2,
       [](Draw& draw, const Arrays& like) {
         return closed_over(sub_program(draw, like), [](const Function& f, const Arrays& v) { return ct::jit(f)(v); });
       }},
      {"checkpoint_call", 2,
       [](Draw& draw, const Arrays& like) {
         const ct::PolicyPtr policy = random_policy(draw);
         return called(sub_program(draw, like), [policy](const Function& f, const Arrays& v) {
           const auto named = [f](const Arrays& in) {
             return Arrays{ct::checkpoint_name(f({ct::checkpoint_name(in[0], "kept"), in[1]})[0], "kept")};
           };
           return ct::checkpoint(named, {.policy = policy})(v);
         });
       }},
      {"checkpoint_closure", 2,
       [](Draw& draw, const Arrays& like) {
         const ct::PolicyPtr policy = random_policy(draw);
         return closed_over(sub_program(draw, like), [policy](const Function& f, const Arrays& v) {
           return ct::checkpoint(f, {.policy = policy})(v);
         });
       }},
      {"custom_jvp_call", 2,
       [](Draw& draw, const Arrays& like) {
         return called(sub_program(draw, like), [](const Function& f, const Arrays& v) {
           const auto rule = [f](const std::tuple<Arrays>& x, const std::tuple<Arrays>& t) { return ct::jvp(f, x, t); };
           return ct::custom_jvp(f, rule)(v);
         });
       }},
      {"custom_vjp_call", 2,
       [](Draw& draw, const Arrays& like) {
         Body body = called(sub_program(draw, like), [](const Function& f, const Arrays& v) {
           const auto forward = [f](const Arrays& x) { return std::pair{f(x), x}; };
           const auto backward = [f](const Arrays& x, const Arrays& ct) {
             return std::get<0>(ct::vjp(f, x).second(ct));
           };
           return ct::custom_vjp(f, forward, backward)(v);
         });
         body.reverse_only = true;
         return body;
       }},
      {"jit_checkpoint_custom", 2,
       [](Draw& draw, const Arrays& like) {
         return called(sub_program(draw, like), [](const Function& f, const Arrays& v) {
           const auto rule = [f](const std::tuple<Arrays>& x, const std::tuple<Arrays>& t) { return ct::jvp(f, x, t); };
           return ct::jit(ct::checkpoint(ct::custom_jvp(f, rule)))(v);
         });
       }},
      {"vmap_closure", 2,
       [](Draw& draw, const Arrays& like) -> std::optional<Body> {
         if (like[1].ndim() == 0 || like[1].size() == 0) return std::nullopt;
         const int axis = draw.below(like[1].ndim());
         return Body{[axis](const Arrays& v) {
                       const Array outer = np::sum(v[0]);
                       return ct::vmap([outer](const Array& row) { return np::tanh(np::sum(row) * outer) + row; },
                                       {.in_axes = axis})(v[1]);
                     },
                     [axis](const Arrays& v) {
                       const Array rows = np::moveaxis(v[1], axis, 0);
                       std::vector<int> inner;
                       for (int i = 1; i < rows.ndim(); ++i) inner.push_back(i);
                       return np::tanh(np::sum(rows, inner, true) * np::sum(v[0])) + rows;
                     }};
       }},
      {"grad_inside", 2,
       [](Draw&, const Arrays&) {
         return Body{[](const Arrays& v) {
                       const Array x = np::sum(v[0]);
                       return ct::grad([x](const Array& y) { return np::sum(np::sin(y) * x + y * y); })(v[1]);
                     },
                     [](const Arrays& v) { return np::cos(v[1]) * np::sum(v[0]) + 2.0 * v[1]; }};
       }},
      {"jvp_inside", 2,
       [](Draw&, const Arrays&) {
         return Body{[](const Arrays& v) {
                       const Array x = np::sum(v[0]);
                       const auto f = [x](const Array& y) { return np::exp(0.3 * y) * x; };
                       return ct::jvp(f, std::tuple{v[1]}, std::tuple{np::sin(v[1])}).second;
                     },
                     [](const Arrays& v) { return 0.3 * np::exp(0.3 * v[1]) * np::sum(v[0]) * np::sin(v[1]); }};
       }},
      {"linearize_inside", 2,
       [](Draw&, const Arrays&) {
         return Body{[](const Arrays& v) {
                       const auto [y, push] = ct::linearize([](const Array& a) { return np::sin(a) * a; }, v[1]);
                       return push(np::ones_like(v[1])) + y * np::sum(v[0]);
                     },
                     [](const Arrays& v) {
                       return np::cos(v[1]) * v[1] + np::sin(v[1]) + np::sin(v[1]) * v[1] * np::sum(v[0]);
                     }};
       }},
  };
}

}  // namespace compose
