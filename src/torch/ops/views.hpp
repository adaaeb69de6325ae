// Views of one step: an operation that reads, and one that writes what is read into the base.
#pragma once
#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch::detail {

/// A step by two operations with the same attributes: read(base, attributes…) and write(base, contents, attributes…).
template <class Read, class Write, class... A>
class StepBy final : public ViewStep {
 public:
  StepBy(const Read& read, const Write& write, A... attributes)
      : read_(read), write_(write), attributes_(std::move(attributes)...) {}
  Value read(const Value& base) const override {
    return std::apply([&](const auto&... a) { return read_.value(tensor_of(base), a...); }, attributes_);
  }
  Value write(const Value& base, const Value& contents) const override {
    return std::apply([&](const auto&... a) { return write_.value(tensor_of(base), tensor_of(contents), a...); },
                      attributes_);
  }

 private:
  const Read& read_;
  const Write& write_;
  std::tuple<A...> attributes_;
};
/// A view of `base` by operations that live as long as the program.
template <class Read, class Write, class... A>
Tensor view_by(const Tensor& base, Layout layout, const Read& read, const Write& write, A... attributes) {
  return view_of(base, std::make_shared<StepBy<Read, Write, A...>>(read, write, std::move(attributes)...),
                 std::move(layout));
}

}  // namespace cotan::torch::detail
