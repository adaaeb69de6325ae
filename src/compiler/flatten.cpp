#include "compiler/flatten.hpp"

#include <algorithm>
#include <thread>

#include "compiler/in_place.hpp"
#include "control/control.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

namespace {

constexpr std::int64_t small_slice = 512;  ///< elements
/// Of loops without carries: enough for threads to share them evenly, few enough for their temporaries. Steps are the
/// same in pieces of any size.
std::int64_t most_pieces(const Target& target) {
  return target.parallel_pieces ? target.parallel_pieces
                                : 4 * std::max<std::int64_t>(std::thread::hardware_concurrency(), 1);
}

Types no_type(const Primitive& p, std::span<const AbstractValue>, const Params&) {
  raise<InternalError>("[{}] is for compilers; this is a bug in cotan.", p.name);
}
Arrays no_eval(const Primitive& p, std::span<const Array>, const Params&) {
  raise<InternalError>("[{}] is for compilers; this is a bug in cotan.", p.name);
}

Expr slice_element(const expr::Operands& x, std::span<const Expr> index, const Params& params) {
  Expr step = x.at(1, {});
  if (params.flag("reverse")) step = expr::integer(params.integer("length") - 1) - step;
  std::vector<Expr> at{step};
  at.insert(at.end(), index.begin(), index.end());
  return x.at(0, at);
}

}  // namespace

const Primitive step_slice_p{
    .name = "step_slice", .op_class = OpClass::view, .type = no_type, .eval = no_eval, .element = slice_element};
const Primitive copy_p = lowered(
    {.name = "copy", .op_class = OpClass::elementwise, .type = no_type, .eval = no_eval},
    [](std::span<const Expr> x, const Params&) { return x[0]; }, true);

const Primitive lane_slice_p{
    .name = "lane_slice",
    .op_class = OpClass::view,
    .type = no_type,
    .eval = no_eval,
    .element = [](const expr::Operands& x, std::span<const Expr> i, const Params&) { return x.at(0, i); }};
const Primitive lane_front_p{
    .name = "lane_front",
    .op_class = OpClass::view,
    .type = no_type,
    .eval = no_eval,
    .element = [](const expr::Operands& x, std::span<const Expr> i, const Params&) { return x.at(0, i); }};

namespace {

class Flattener {
 public:
  explicit Flattener(const Target& target) : target_(target), pieces_(most_pieces(target)) {}
  Flat run(const Jaxpr& jaxpr) {
    Map map(jaxpr.types.size());
    for (Var v : jaxpr.inputs) {
      out_.inputs.push_back(new_var(jaxpr.type(v)));
      map[static_cast<std::size_t>(v.id)] = out_.inputs.back();
    }
    add_equations(jaxpr, map, out_.top);
    for (const Atom& a : jaxpr.outputs) {
      Atom value = read(a, map);
      // What lies inside another array cannot be given to the caller by itself.
      if (const Var* v = std::get_if<Var>(&value);
          v && std::find(given_out_.begin(), given_out_.end(), v->id) != given_out_.end())
        value = copy(value, out_.type(*v), false, out_.top);
      out_.top.outputs.push_back(value);
    }
    return std::move(out_);
  }

 private:
  using Map = std::vector<Atom>;

  Var new_var(const AbstractValue& type, bool varies = false) {
    out_.types.push_back(type);
    if (varies) out_.types.back().shape.push_back(width_);
    out_.lanes.push_back(varies ? width_ : 0);
    return {static_cast<std::int32_t>(out_.types.size()) - 1};
  }
  /// Whether it differs between lanes.
  bool varies(const Atom& a) const {
    const Var* v = std::get_if<Var>(&a);
    return v && out_.lanes[static_cast<std::size_t>(v->id)] > 0;
  }
  Mask vary(const std::vector<Atom>& atoms) const {
    Mask out;
    for (const Atom& a : atoms) out.push_back(varies(a));
    return out;
  }
  static Atom read(const Atom& a, const Map& map) {
    const Var* v = std::get_if<Var>(&a);
    return v ? map[static_cast<std::size_t>(v->id)] : a;
  }
  std::vector<Atom> read_all(const std::vector<Atom>& atoms, const Map& map) {
    std::vector<Atom> out;
    for (const Atom& a : atoms) out.push_back(read(a, map));
    return out;
  }
  /// A value of its own, equal to `a`, computed in `block`.
  Var copy(const Atom& a, const AbstractValue& type, bool in_lanes, Block& block) {
    const Var v = new_var(type, in_lanes);
    block.items.push_back({{&copy_p, {a}, {v}, {}, {}}, nullptr});
    return v;
  }
  /// What a block gives out: computed in it, and given out once. Its memory is where the result is wanted.
  Var own_output(const Atom& a, const AbstractValue& type, bool in_lanes, Block& block) {
    const Var* v = std::get_if<Var>(&a);
    if (v && varies(a) == in_lanes && std::find(given_out_.begin(), given_out_.end(), v->id) == given_out_.end())
      for (const Item& item : block.items)
        if (!item.control &&
            std::find(item.equation.outputs.begin(), item.equation.outputs.end(), *v) != item.equation.outputs.end()) {
          given_out_.push_back(v->id);
          return *v;
        }
    return copy(a, type, in_lanes, block);
  }

  /// By variable: how often equations and results read it.
  static std::vector<int> count_readers(const Jaxpr& jaxpr) {
    std::vector<int> out(jaxpr.types.size(), 0);
    const auto count = [&](const std::vector<Atom>& atoms) {
      for (const Atom& a : atoms)
        if (const Var* v = std::get_if<Var>(&a)) ++out[static_cast<std::size_t>(v->id)];
    };
    count(jaxpr.outputs);
    for (const Equation& e : jaxpr.equations) count(e.inputs);
    return out;
  }

  void add_equations(const Jaxpr& jaxpr, Map& map, Block& block) {
    const std::vector<int> readers = count_readers(jaxpr);
    for (const Equation& e : jaxpr.equations) {
      Equation copy{e.primitive, read_all(e.inputs, map), {}, e.params, e.where};
      if (e.primitive == &cond_p) {
        if (const auto* literal = std::get_if<Literal>(&copy.inputs[0])) {  // decided already
          inline_branch(e, literal->value.item<std::int64_t>(), copy.inputs, map, block);
          continue;
        }
      }
      if (e.primitive == &lanes_p) {
        runs_in_lanes(*Lanes(e.params).program, target_.lane_equations)
            ? add_lanes(std::move(copy), e, jaxpr, map, block)
            : add_lanes_apart(std::move(copy), e, jaxpr, map, block);
        continue;
      }
      const Mask in_lanes = width_ ? results_depend(e, vary(copy.inputs)) : Mask(e.outputs.size(), false);
      for (std::size_t k = 0; k < e.outputs.size(); ++k) {
        copy.outputs.push_back(new_var(jaxpr.type(e.outputs[k]), in_lanes[k]));
        map[static_cast<std::size_t>(e.outputs[k].id)] = copy.outputs.back();
      }
      if (e.primitive == &ops::concatenate_p && !width_ &&
          (add_pieces(copy, block) || add_transforms(copy, e, readers, block)))
        continue;
      if (e.primitive->op_class != OpClass::control) {
        block.items.push_back({std::move(copy), nullptr});
      } else if (e.primitive == &scan_p) {
        add_scan(std::move(copy), block);
      } else if (e.primitive == &while_p) {
        add_while(std::move(copy), block);
      } else if (e.primitive == &cond_p) {
        add_cond(std::move(copy), block);
      } else {
        raise<InternalError>("[{}] was not lowered; this is a bug in cotan.", e.primitive->name);
      }
    }
  }

  /// The stacked results of loops among the parts of a concatenation are written where they belong.
  bool add_pieces(Equation& e, Block& block) {
    const AbstractValue& type = out_.types[static_cast<std::size_t>(e.outputs[0].id)];
    const auto axis = static_cast<std::size_t>(e.params.integer("dimension"));
    for (std::size_t k = 0; k < axis; ++k)
      if (type.shape[k] != 1) return false;
    bool any = false;
    for (Atom& a : e.inputs) {
      if (const Atom whole = before_reshaping(a, block); is_stacked(whole, block)) a = whole;
      any = any || is_stacked(a, block);
    }
    if (!any) return false;
    auto control = std::make_unique<Control>();
    for (const Atom& a : e.inputs) {
      const AbstractValue part = out_.type(a);
      if (is_stacked(a, block)) {
        given_out_.push_back(std::get<Var>(a).id);
        control->pieces.push_back(std::get<Var>(a));
      } else {
        control->pieces.push_back(copy(a, part, false, block));
      }
    }
    e.inputs.assign(control->pieces.begin(), control->pieces.end());
    block.items.push_back({std::move(e), std::move(control)});
    return true;
  }
  /// The results of a butterfly that nobody else reads are written where they belong: it computes all of them at once.
  bool add_transforms(Equation& copy, const Equation& e, const std::vector<int>& readers, Block& block) {
    for (std::size_t k = 0; k < e.inputs.size(); ++k) {
      const Var* v = std::get_if<Var>(&copy.inputs[k]);
      if (!v || readers[static_cast<std::size_t>(std::get<Var>(e.inputs[k]).id)] != 1) return false;
      if (std::find(given_out_.begin(), given_out_.end(), v->id) != given_out_.end()) return false;
      const auto home = std::find_if(block.items.rbegin(), block.items.rend(), [&](const Item& item) {
        return std::find(item.equation.outputs.begin(), item.equation.outputs.end(), *v) != item.equation.outputs.end();
      });
      if (home == block.items.rend() || home->equation.primitive != &ops::butterfly_p) return false;
    }
    auto control = std::make_unique<Control>();
    const Ints strides = ops::strides_of(out_.type(copy.outputs[0]).shape);
    for (const Atom& a : copy.inputs) {
      const Var v = std::get<Var>(a);
      given_out_.push_back(v.id);
      out_.strides[v.id] = strides;
      control->pieces.push_back(v);
    }
    block.items.push_back({std::move(copy), std::move(control)});
    return true;
  }
  /// What `a` is another shape of, in the same order.
  static Atom before_reshaping(Atom a, const Block& block) {
    for (auto item = block.items.rbegin(); item != block.items.rend(); ++item)
      if (const Var* v = std::get_if<Var>(&a);
          v && item->equation.primitive == &ops::reshape_p && item->equation.outputs[0] == *v)
        a = item->equation.inputs[0];
    return a;
  }
  bool is_stacked(const Atom& a, const Block& block) const {
    const Var* v = std::get_if<Var>(&a);
    if (!v || std::find(given_out_.begin(), given_out_.end(), v->id) != given_out_.end()) return false;
    for (const Item& item : block.items) {
      if (!item.control || (item.control->slices.empty() && !item.control->lanes)) continue;
      const auto& outputs = item.equation.outputs;
      const auto first = outputs.begin() + static_cast<std::ptrdiff_t>(item.control->carries.size());
      if (std::find(first, outputs.end(), *v) != outputs.end()) return true;
    }
    return false;
  }

  void inline_branch(const Equation& e, std::int64_t chosen, const std::vector<Atom>& inputs, Map& map, Block& block) {
    const Jaxpr& branch = *e.params.jaxprs("branches")[static_cast<std::size_t>(chosen)];
    Map inner(branch.types.size());
    for (std::size_t i = 0; i < branch.inputs.size(); ++i)
      inner[static_cast<std::size_t>(branch.inputs[i].id)] = inputs[i + 1];
    add_equations(branch, inner, block);
    for (std::size_t i = 0; i < e.outputs.size(); ++i)
      map[static_cast<std::size_t>(e.outputs[i].id)] = read(branch.outputs[i], inner);
  }

  void add_scan(Equation e, Block& block) {
    const Scan s(e.params);
    auto control = std::make_unique<Control>();
    control->length = s.length;
    control->unroll = s.unroll;
    control->reverse = s.reverse;
    control->index = new_var({DType::i64, {}, false});
    if (s.carries == 0 && s.length > 1 && &block == &out_.top &&
        work_of(*s.body) * static_cast<double>(s.length) >= target_.parallel_work) {
      control->grain = (s.length + pieces_ - 1) / pieces_;
      control->parallel = control->grain < s.length;
    }
    control->blocks.resize(1);
    Block& body = control->blocks[0];
    Map map(s.body->types.size());
    std::vector<Atom> starts;
    for (std::size_t i = 0; i < s.body->inputs.size(); ++i) {
      const Var inside = s.body->inputs[i];
      Atom& to = map[static_cast<std::size_t>(inside.id)];
      const AbstractValue& type = s.body->type(inside);
      if (i < s.consts) {
        to = e.inputs[i];
      } else if (i < s.consts + s.carries) {
        const bool in_lanes = varies(e.outputs[i - s.consts]);
        const Var start = copy(e.inputs[i], type, in_lanes, block), in = new_var(type, in_lanes);
        control->carries.push_back({start, in, {}});
        starts.push_back(start);
        to = in;
      } else {
        to = slice_of(e.inputs[i], type, *control, body);
      }
    }
    add_equations(*s.body, map, body);
    for (std::size_t i = 0; i < s.body->outputs.size(); ++i) {
      const AbstractValue& type = s.body->type(s.body->outputs[i]);
      const Atom value = read(s.body->outputs[i], map);
      // A small y is also kept in a register: who reads it must not wait for the memory of ys.
      const bool copies = i >= s.carries && type.size() <= small_slice, in_lanes = varies(e.outputs[i]);
      const Var v = copies ? copy(value, type, in_lanes, body) : own_output(value, type, in_lanes, body);
      if (i < s.carries)
        control->carries[i].out = v;
      else
        control->slices.push_back(v);
      body.outputs.push_back(v);
    }
    if (!width_) change_in_place(out_, *control);
    e.inputs = std::move(starts);
    block.items.push_back({std::move(e), std::move(control)});
  }

  void add_while(Equation e, Block& block) {
    const While w(e.params);
    auto control = std::make_unique<Control>();
    control->index = new_var({DType::i64, {}, false});
    control->blocks.resize(2);
    Block &body = control->blocks[0], &condition = control->blocks[1];
    Map in_body(w.body->types.size()), in_condition(w.condition->types.size());
    const auto input = [](Map& map, const Jaxpr& j, std::size_t i) -> Atom& {
      return map[static_cast<std::size_t>(j.inputs[i].id)];
    };
    for (std::size_t i = 0; i < w.condition_consts; ++i) input(in_condition, *w.condition, i) = e.inputs[i];
    for (std::size_t i = 0; i < w.body_consts; ++i) input(in_body, *w.body, i) = e.inputs[w.condition_consts + i];
    std::vector<Atom> starts;
    for (std::size_t i = 0; i < w.carries(); ++i) {
      const AbstractValue& type = w.body->type(w.body->outputs[i]);
      const Var start = copy(e.inputs[w.condition_consts + w.body_consts + i], type, false, block), in = new_var(type);
      control->carries.push_back({start, in, {}});
      starts.push_back(start);
      input(in_body, *w.body, w.body_consts + i) = in;
      input(in_condition, *w.condition, w.condition_consts + i) = in;
    }
    add_equations(*w.condition, in_condition, condition);
    condition.outputs = {
        own_output(read(w.condition->outputs[0], in_condition), {DType::bool_, {}, false}, false, condition)};
    add_equations(*w.body, in_body, body);
    for (std::size_t i = 0; i < w.carries(); ++i) {
      control->carries[i].out =
          own_output(read(w.body->outputs[i], in_body), w.body->type(w.body->outputs[i]), false, body);
      body.outputs.push_back(control->carries[i].out);
    }
    change_in_place(out_, *control);
    e.inputs = std::move(starts);
    block.items.push_back({std::move(e), std::move(control)});
  }

  void add_results(Equation& e, const Equation& source, const Jaxpr& jaxpr, Map& outer) {
    for (Var v : source.outputs) {
      e.outputs.push_back(new_var(jaxpr.type(v)));
      outer[static_cast<std::size_t>(v.id)] = e.outputs.back();
    }
  }
  /// A loop over groups of lanes. Inside, what differs between lanes has them as a last axis.
  void add_lanes(Equation e, const Equation& source, const Jaxpr& jaxpr, Map& outer, Block& block) {
    const Lanes l(e.params);
    const Jaxpr& program = *l.program;
    const Mask mapped_out = depends_on(program, l.mapped);
    auto control = std::make_unique<Control>();
    std::size_t widest = 1;
    for (const AbstractValue& t : program.types) widest = std::max(widest, itemsize(t.dtype));
    control->parallel = true;
    control->lanes = l.size;
    control->width = std::min<std::int64_t>(l.size, std::max(target_.lane_bytes / static_cast<int>(widest), 1));
    control->length = (l.size + control->width - 1) / control->width;
    control->grain = std::max<std::int64_t>((control->length + pieces_ - 1) / pieces_, 1);
    control->index = new_var({DType::i64, {}, false});
    add_results(e, source, jaxpr, outer);
    control->blocks.resize(1);
    Block& inside = control->blocks[0];
    width_ = control->width;
    Map map(program.types.size());
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      Atom& to = map[static_cast<std::size_t>(program.inputs[i].id)];
      to = e.inputs[i];
      if (!l.mapped[i]) continue;
      const Var lane = new_var(program.type(program.inputs[i]), true);
      inside.items.push_back({{&lane_slice_p,
                               {e.inputs[i], control->index},
                               {lane},
                               {{"lanes", control->lanes}, {"width", control->width}},
                               {}},
                              nullptr});
      to = lane;
    }
    add_equations(program, map, inside);
    for (std::size_t k = 0; k < program.outputs.size(); ++k) {
      const Atom value = read(program.outputs[k], map);
      const AbstractValue& type = program.type(program.outputs[k]);
      Var out;
      if (!mapped_out[k])
        out = copy(value, type, false, inside);
      else if (write_slices_to(e.outputs[k], value, program, k, inside))
        out = new_var({type.dtype, {0}, false});  // it is there already
      else
        out = front(value, type, inside);
      inside.outputs.push_back(out);
    }
    width_ = 0;
    e.inputs.clear();
    block.items.push_back({std::move(e), std::move(control)});
  }
  /// A loop over lanes one by one.
  void add_lanes_apart(Equation e, const Equation& source, const Jaxpr& jaxpr, Map& outer, Block& block) {
    const Lanes l(e.params);
    auto control = std::make_unique<Control>();
    control->parallel = true;
    control->length = l.size;
    control->index = new_var({DType::i64, {}, false});
    add_results(e, source, jaxpr, outer);
    control->blocks.resize(1);
    Block& inside = control->blocks[0];
    Map map(l.program->types.size());
    for (std::size_t i = 0; i < l.program->inputs.size(); ++i)
      map[static_cast<std::size_t>(l.program->inputs[i].id)] =
          l.mapped[i] ? Atom(slice_of(e.inputs[i], l.program->type(l.program->inputs[i]), *control, inside))
                      : e.inputs[i];
    add_equations(*l.program, map, inside);
    for (const Atom& a : l.program->outputs) {
      control->slices.push_back(own_output(read(a, map), l.program->type(a), false, inside));
      inside.outputs.push_back(control->slices.back());
    }
    e.inputs.clear();
    block.items.push_back({std::move(e), std::move(control)});
  }
  /// The slice of `x` for a step of a loop.
  Var slice_of(const Atom& x, const AbstractValue& type, const Control& loop, Block& body) {
    const Var slice = new_var(type, varies(x));
    body.items.push_back(
        {{&step_slice_p, {x, loop.index}, {slice}, {{"length", loop.length}, {"reverse", loop.reverse}}, {}}, nullptr});
    return slice;
  }
  /// The lanes of a value as its first axis.
  Var front(const Atom& value, const AbstractValue& type, Block& block) {
    AbstractValue full = type;
    full.shape.insert(full.shape.begin(), width_);
    const Var v = new_var(full);
    block.items.push_back(
        {{&lane_front_p, {varies(value) ? value : Atom(copy(value, type, true, block))}, {v}, {}, {}}, nullptr});
    return v;
  }
  /// If the value is the ys of a loop and nothing else needs it, its slices go to the lanes' rows of `whole`.
  bool write_slices_to(Var whole, const Atom& value, const Jaxpr& program, std::size_t output, Block& block) {
    const Var* v = std::get_if<Var>(&value);
    if (!v || !is_stacked(value, block)) return false;
    const Var& inner = std::get<Var>(program.outputs[output]);
    const auto is_it = [&](const Atom& a) { return std::get_if<Var>(&a) && std::get<Var>(a) == inner; };
    if (std::count_if(program.outputs.begin(), program.outputs.end(), is_it) > 1) return false;
    for (const Equation& e : program.equations)
      if (std::any_of(e.inputs.begin(), e.inputs.end(), is_it)) return false;
    for (Item& item : block.items) {
      if (!item.control) continue;
      auto& outputs = item.equation.outputs;
      const auto at = std::find(outputs.begin(), outputs.end(), *v);
      if (at == outputs.end()) continue;
      Control& loop = *item.control;
      const std::size_t k = static_cast<std::size_t>(at - outputs.begin()) - loop.carries.size();
      AbstractValue slice = program.type(inner);
      slice.shape.erase(slice.shape.begin());
      const Var rows = front(loop.slices[k], slice, loop.blocks[0]);
      Ints strides = ops::strides_of(out_.type(rows).shape);
      strides[0] = loop.length * slice.size();
      out_.strides[rows.id] = strides;
      for (Atom& a : loop.blocks[0].outputs)
        if (std::get<Var>(a) == loop.slices[k]) a = rows;
      loop.slices[k] = rows;
      loop.lane_slices.push_back({k, whole});
      *at = new_var({slice.dtype, {0}, false});
      return true;
    }
    return false;
  }

  void add_cond(Equation e, Block& block) {
    auto control = std::make_unique<Control>();
    control->chosen = e.inputs[0];
    for (const JaxprPtr& branch : e.params.jaxprs("branches")) {
      control->blocks.emplace_back();
      Block& inside = control->blocks.back();
      Map map(branch->types.size());
      for (std::size_t i = 0; i < branch->inputs.size(); ++i)
        map[static_cast<std::size_t>(branch->inputs[i].id)] = e.inputs[i + 1];
      add_equations(*branch, map, inside);
      for (const Atom& a : branch->outputs)
        inside.outputs.push_back(own_output(read(a, map), branch->type(a), false, inside));
    }
    e.inputs = {e.inputs[0]};
    block.items.push_back({std::move(e), std::move(control)});
  }

  const Target& target_;
  const std::int64_t pieces_;
  std::int64_t width_ = 0;  ///< lanes side by side, inside a loop over them
  Flat out_;
  std::vector<std::int32_t> given_out_;
};

}  // namespace

Flat flatten(const Jaxpr& jaxpr, const Target& target) { return Flattener(target).run(jaxpr); }

}  // namespace cotan::compiler
