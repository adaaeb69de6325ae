#include "torch/graph/record.hpp"

#include <fmt/format.h>

#include <cotan/transforms.hpp>

#include "torch/graph/devices.hpp"
#include "torch/graph/generator.hpp"
#include "torch/graph/modes.hpp"
#include "torch/graph/op.hpp"
#include "torch/graph/program.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch::detail {

namespace {

thread_local const TensorImpl* written = nullptr;
thread_local const std::source_location* innermost_line = nullptr;

}  // namespace

Modes& modes() {
  thread_local Modes modes;
  return modes;
}

At::At(const std::source_location& where) : where_(where), outer_(innermost_line), site_(where) {
  if (where_.line() != 0) innermost_line = &where_;
}
At::~At() { innermost_line = outer_; }
const std::source_location& line() {
  static const std::source_location nowhere;
  return innermost_line ? *innermost_line : nowhere;
}

WriteScope::WriteScope(const TensorImpl& target) : outer_(std::exchange(written, &target)) {}
WriteScope::~WriteScope() { written = outer_; }

void check_apart(const TensorImpl& operand, const TensorImpl& target, std::string_view op) {
  if (operand.storage == target.storage && operand.layout.partly_covers(target.layout))
    throw_with_line<ValueError>(fmt::format(
        "[{}] an operand and the tensor that is written share some of their elements, and not all in the same order; "
        "use a clone() of the operand.",
        op));
}

namespace {

/// Whenever so many operations wait that nobody reads they are run: a loop without a step() makes no program without
/// end.
constexpr std::int64_t most_pending = 8192;
thread_local bool catches_up = false;

/// Memory of lists that ended on this thread.
template <class T>
std::vector<std::vector<T>>& spare_lists() {
  thread_local std::vector<std::vector<T>> lists;
  return lists;
}
template <class T>
std::vector<T> take_list() {
  auto& spare = spare_lists<T>();
  if (spare.empty()) return {};
  std::vector<T> out = std::move(spare.back());
  spare.pop_back();
  return out;
}
template <class T>
void give_list(std::vector<T>&& list) {
  if (list.capacity() == 0 || list.capacity() > 1024) return;
  list.clear();
  spare_lists<T>().push_back(std::move(list));
}

}  // namespace

Recorder::Recorder(const OpBase& op)
    : op_(op),
      operands_(take_list<Operand>()),
      types_(take_list<TypePtr>()),
      widens_(op.traits.cast == Cast::widest && modes().autocast.has_value()) {}
Recorder::~Recorder() {
  give_list(std::move(operands_));
  give_list(std::move(types_));
}

void Recorder::widen() {
  std::vector<Value*> values;
  for (Operand& o : operands_) values.push_back(&o.value);
  autocast_to_widest(values);
  for (std::size_t i = 0; i < operands_.size(); ++i) types_[i] = operands_[i].value.type();
}

void Recorder::input(const Tensor& tensor) {
  if (!tensor.defined())
    throw_with_line<ValueError>(fmt::format("[{}] got an undefined tensor; assign one before it is used.", op_.name));
  TensorImpl& impl = tensor.impl();
  if (written) check_apart(impl, *written, op_.name);
  Value value = &impl == written ? impl.unwatched() : impl.read();
  if (modes().autocast && op_.traits.cast != Cast::none) value = autocast(value, op_.traits.cast);
  types_.push_back(value.type());
  const bool needs_gradient = value.requires_grad();
  if (types_.size() > 1 && types_.back()->device != types_.front()->device)
    throw_with_line<DeviceError>(fmt::format("[{}] the tensors are on different devices, {} and {}; move one by to().",
                                             op_.name, types_.front()->device, types_.back()->device));
  operands_.push_back({std::move(value), impl.storage, needs_gradient, &impl == written});
}

void Recorder::finish(const Call* call) {
  node_ = make_pooled<Node>(Node::Kind::call, call);
  Node& node = *node_;
  node.where = line();
  node.region = modes().region;
  node.numbers = std::move(numbers_);
  if (op_.draws) node.draw = next_draw();
  if (modes().gradients && op_.traits.differentiable)
    for (const Operand& o : operands_) node.requires_grad |= o.needs_gradient;
  if (node.requires_grad && op_.traits.saves != Saves::none) note_saved(node);
  std::vector<Value> inputs;
  inputs.reserve(operands_.size());
  for (Operand& o : operands_) inputs.push_back(std::move(o.value));
  node.set_inputs(std::move(inputs));
  if (pending_nodes() % most_pending != 0 || catches_up || node.traced) return;
  catches_up = true;
  catch_up({node_, 0});
  catches_up = false;
}

void Recorder::note_saved(Node& node) const {
  const auto keep = [&](std::size_t i) {
    if (i >= operands_.size()) return;
    const auto& storage = operands_[i].storage;
    const bool is_old = i == 0 && operands_[i].is_written;  // kept as it was
    node.saved.push_back({is_old ? nullptr : storage, storage->version, static_cast<int>(i)});
  };
  const auto keep_factors = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        if (j != i && operands_[j].needs_gradient) {
          keep(i);
          break;
        }
  };
  switch (op_.traits.saves) {
    case Saves::operands:
      for (std::size_t i = 0; i < operands_.size(); ++i) keep(i);
      break;
    case Saves::others:
      keep_factors(operands_.size());
      if (operands_.size() == 1) node.saved.push_back({{}, 0, 1});  // the number
      break;
    case Saves::factors:
      keep_factors(std::min<std::size_t>(2, operands_.size()));
      break;
    case Saves::quotient:
      if (operands_.size() == 2 && operands_[1].needs_gradient) keep(0);
      keep(1);
      if (operands_.size() == 1) node.saved.push_back({{}, 0, 1});
      break;
    case Saves::first:
      keep(0);
      break;
    case Saves::second:
      keep(1);
      break;
    case Saves::result:
    case Saves::none:
      break;
  }
}

Tensor Recorder::tensor(std::uint32_t index) {
  Tensor out = tensor_of({node_, index});
  if (op_.traits.saves == Saves::result && node_->requires_grad && !written)
    node_->saved.push_back({out.impl().storage, 0, -1});
  return out;
}
Tensor Recorder::tensor() { return tensor(0); }
std::vector<Tensor> Recorder::tensors() {
  std::vector<Tensor> out;
  for (std::uint32_t i = 0; i < node_->call->out.size(); ++i) out.push_back(tensor(i));
  return out;
}
Value Recorder::value() { return {node_, 0}; }

void find_result_types(Call& call, std::size_t numbers, const std::string& place) {
  const std::string& device = call.in.empty() ? place : call.in[0]->device;
  Arrays like;
  for (const TypePtr t : call.in) like.push_back(shape_dtype(t->shape, t->dtype));
  for (std::size_t i = 0; i < numbers; ++i) like.push_back(shape_dtype({}, has_doubles(device) ? f64 : f32));
  if (call.op->draws) like.push_back(shape_dtype({2}, u32));
  const auto f = [&](std::span<const Array> in) { return call.op->lower(call, in); };
  const Arrays out = flat::eval_shape(f, like, [&](std::size_t i) { return fmt::format("operand {}", i); });
  for (const Array& a : out) call.out.push_back(intern(a.dtype(), a.shape(), device));
}

}  // namespace cotan::torch::detail
