// How one call of an operation becomes a node: operands, what is kept for derivatives, who requires a gradient.
#pragma once
#include <cotan/torch/tensor.hpp>
#include <span>

#include "torch/graph/node.hpp"

namespace cotan::torch::detail {

/// What an operation keeps for its derivative, as PyTorch does; `others`: each operand if another one requires a
/// gradient, as products do; `factors`: so among the first two, as products do to which a bias is added; `quotient`:
/// the second operand, and the first if the second requires a gradient.
enum class Saves : std::uint8_t { none, operands, others, factors, quotient, result, first, second };
/// What autocast does with floating operands: nothing, to the lower precision, to f32, or to the widest among them.
enum class Cast : std::uint8_t { none, lower, f32, widest };

class Recorder {
 public:
  explicit Recorder(const OpBase& op);
  ~Recorder();
  Recorder(Recorder&&) = default;
  void input(const Tensor& tensor);
  void number(double number) { numbers_.push_back(number); }
  void place(const std::string& device) { place_ = device; }
  const std::string& place() const { return place_; }
  std::span<const TypePtr> types() const { return types_; }
  std::size_t number_count() const { return numbers_.size(); }
  /// After the last operand: what depends on all of them.
  void settle() {
    if (widens_) widen();
  }
  /// Makes the node.
  void finish(const Call* call);
  /// A new tensor for each result.
  std::vector<Tensor> tensors();
  /// A new tensor for the one result.
  Tensor tensor();
  /// The one result.
  Value value();

 private:
  Tensor tensor(std::uint32_t index);
  struct Operand {
    Value value;
    std::shared_ptr<Storage> storage;
    bool needs_gradient;
    bool is_written;  ///< by the call that this one is part of
  };
  void note_saved(Node& node) const;
  void widen();
  std::unique_lock<std::recursive_mutex> graph_ = lock_runs();
  const OpBase& op_;
  std::vector<Operand> operands_;  // these two in memory of a recorder that ended
  std::vector<TypePtr> types_;
  std::vector<double> numbers_;
  bool widens_;        ///< operands, for autocast
  std::string place_;  ///< where there are no operands
  NodePtr node_;
};

/// Hands out the operands of a rule: tensors from the front, then numbers, then the key.
class OperandReader {
 public:
  OperandReader(std::size_t tensors, std::span<const Array> operands) : operands_(operands), number_(tensors) {}
  const Array& tensor() { return operands_[tensor_++]; }
  const Array& number() { return operands_[number_++]; }
  const Array& key() const { return operands_.back(); }

 private:
  std::span<const Array> operands_;
  std::size_t tensor_ = 0, number_;
};

/// While it lives, what is recorded on this thread is a write to `target`: its old contents are not counted as kept,
/// and operands that share a part of its elements are refused.
class WriteScope {
 public:
  explicit WriteScope(const TensorImpl& target);
  ~WriteScope();
  WriteScope(const WriteScope&) = delete;

 private:
  const TensorImpl* outer_;
};
/// Raises where `operand` and `target`, which is written, share some of their elements and not all in the same order.
void check_apart(const TensorImpl& operand, const TensorImpl& target, std::string_view op);

}  // namespace cotan::torch::detail
