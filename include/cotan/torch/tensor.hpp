// Tensor: PyTorch's tensor, recorded lazily and compiled whole.
#pragma once
#include <cotan/array.hpp>
#include <cotan/torch/casts.hpp>
#include <cotan/torch/elementwise.hpp>
#include <cotan/torch/gathering.hpp>
#include <cotan/torch/indexing.hpp>
#include <cotan/torch/inputs.hpp>
#include <cotan/torch/joining.hpp>
#include <cotan/torch/products.hpp>
#include <cotan/torch/reductions.hpp>
#include <cotan/torch/views.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// PyTorch's programming model on the compiler of cotan: tensors that are changed in place, views that alias, `.grad`
/// and `backward()`. Operations are recorded; reading a value, an optimizer's `step()` or `mark_step()` runs what was
/// recorded as one compiled program, which is found again the next time the same is recorded.
///
///     namespace torch = cotan::torch;
///     torch::Tensor w = torch::randn({3, 2}, {.requires_grad = true});
///     torch::Tensor loss = torch::mean(torch::square(torch::matmul(x, w) - y));
///     loss.backward();
///     std::cout << loss.item<float>() << w.grad();
namespace cotan::torch {

namespace detail {
class TensorImpl;
struct Gradient;
}  // namespace detail

/// A handle that stands for a hook; remove() takes it back.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::function<void()> take_back) : take_back_(std::move(take_back)) {}
  /// The hook is not called any more.
  void remove() {
    if (take_back_) std::exchange(take_back_, nullptr)();
  }

 private:
  std::function<void()> take_back_;
};

/// A tensor: a handle. Copies are the same tensor, views share its elements, and a write through one is seen by all.
/// Members that have a name in `cotan::torch` are that function.
class Tensor : public ElementwiseMethods<Tensor>,
               public ReductionMethods<Tensor>,
               public JoiningMethods<Tensor>,
               public GatheringMethods<Tensor>,
               public ProductMethods<Tensor>,
               public CastMethods<Tensor>,
               public IndexingMethods<Tensor>,
               public ViewMethods<Tensor> {
 public:
  /// An undefined tensor; every use but assignment, defined() and destruction raises.
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor& operator=(const Tensor&) & = default;  ///< the handle becomes another tensor; nothing is written
  Tensor& operator=(Tensor&&) & = default;       ///< the handle becomes another tensor; nothing is written
  /// Writes into what an index expression gives: x[0] = y, as Tensor::copy_.
  void operator=(const Tensor& x) &&;
  void operator=(Tensor&& x) &&;  ///< the same
  /// Fills what an index expression gives: x[0] = 5.
  template <class T>
    requires std::is_arithmetic_v<T>
  void operator=(T value) && {
    std::move(*this).assign(Operand(value, std::source_location{}));
  }

  /// @name What it is
  /// @{
  bool defined() const { return impl_ != nullptr; }                ///< or an empty handle
  const Shape& sizes() const;                                      ///< sizes of the axes
  const Shape& shape() const { return sizes(); }                   ///< the same
  const Shape& size() const { return sizes(); }                    ///< the same
  std::int64_t size(int dim) const;                                ///< of one axis; negative ones count from the end
  int dim() const;                                                 ///< the number of axes
  int ndimension() const { return dim(); }                         ///< the same
  std::int64_t numel() const;                                      ///< the number of elements
  DType dtype() const;                                             ///< of the elements
  std::string device() const;                                      ///< "cpu", "webgpu"
  const Shape& strides() const;                                    ///< elements from one index to the next, by axis
  const Shape& stride() const { return strides(); }                ///< the same
  std::int64_t stride(int dim) const;                              ///< of one axis
  std::int64_t storage_offset() const;                             ///< of the first element, in the base
  bool is_contiguous() const;                                      ///< row-major without gaps
  std::size_t element_size() const { return itemsize(dtype()); }   ///< bytes
  std::size_t nbytes() const;                                      ///< of all elements
  bool is_floating_point() const { return is_floating(dtype()); }  ///< f16, bf16, f32, f64
  bool is_view() const;                                            ///< of another tensor's elements
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }  ///< the same tensor: Python's `is`
  bool shares_storage(const Tensor& other) const;  ///< a write through one is seen by the other
  std::uint32_t version() const;                   ///< how often the elements were written: `_version`
  /// @}

  /// @name Values
  /// @{
  /// The one element; runs what is recorded and waits.
  template <HostNumber T>
  T item(std::source_location where = COTAN_HERE) const {
    return array(where).template item<T>();
  }
  double item(std::source_location where = COTAN_HERE) const { return item<double>(where); }  ///< as a double
  /// All elements, row-major; runs what is recorded and waits.
  template <HostElement T>
  std::vector<T> to_vector(std::source_location where = COTAN_HERE) const {
    return array(where).template to_vector<T>();
  }
  /// The elements as an Array of cotan's, for its functions; runs what is recorded.
  Array array(std::source_location where = COTAN_HERE) const;
  /// The one element as a condition.
  explicit operator bool() const;
  /// @}

  std::string str() const;  ///< as `<<` prints it; runs what is recorded

  /// @name Gradients
  /// @{
  bool requires_grad() const;  ///< whether backward() looks for its gradient
  /// Whether gradients are collected in it; of tensors that no recorded operation gave. Only of floats.
  const Tensor& requires_grad_(bool on = true, std::source_location where = COTAN_HERE) const;
  bool is_leaf() const;  ///< no operation that requires a gradient gave it
  Tensor grad() const;   ///< collected by backward(); undefined before
  /// Another gradient, or none.
  void set_grad(const Tensor& grad) const;
  /// Gradients of this tensor with respect to leaves, added to their grad(). `gradient` is that of this tensor, not
  /// needed of a scalar. What was kept for it is freed unless retain_graph; create_graph records the pass itself, for
  /// derivatives of it. With `inputs`, only those collect.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = {}, bool create_graph = false,
                std::span<const Tensor> inputs = {}, std::source_location where = COTAN_HERE) const;
  void retain_grad() const;   ///< backward() sets grad() of this tensor too, though it is no leaf
  bool retains_grad() const;  ///< whether it was asked to
  /// `hook` sees the gradient of this tensor when backward() has it, and may give another in its place (or an undefined
  /// one).
  HookHandle register_hook(std::function<Tensor(const Tensor&)> hook) const;
  /// `hook` is called with this leaf after backward() has added to its grad().
  HookHandle register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook) const;
  Tensor detach(std::source_location where = COTAN_HERE) const;  ///< the same elements, without history; a view
  Tensor data() const { return detach(); }                       ///< detach()
  const Tensor& detach_() const;                                 ///< forgets how it was made
  /// @}

  /// @name Writing
  /// All of them write into the elements, which every view of them sees, and give the tensor back.
  /// @{
  const Tensor& copy_(const Tensor& source,
                      std::source_location where = COTAN_HERE) const;  ///< another tensor, which broadcasts
  const Tensor& fill_(double value, std::source_location where = COTAN_HERE) const;  ///< one number
  const Tensor& zero_(std::source_location where = COTAN_HERE) const;                ///< 0
  /// @}

  /// For the library.
  explicit Tensor(std::shared_ptr<detail::TensorImpl> impl) : impl_(std::move(impl)) {}
  /// For the library; raises where the tensor is undefined.
  detail::TensorImpl& impl() const;
  const std::shared_ptr<detail::TensorImpl>& shared_impl() const { return impl_; }  ///< for the library

 private:
  void assign(const Operand& value) &&;
  std::shared_ptr<detail::TensorImpl> impl_;
};

/// As PyTorch prints it: tensor([[1., 2.], [3., 4.]]); runs what is recorded.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

/// A tensor of the elements of an Array, which is not copied: writes give the tensor new memory.
Tensor from(const Array& array, bool requires_grad = false);

}  // namespace cotan::torch
