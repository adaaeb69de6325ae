// Functions with a derivative of their own, and checks of derivatives by differences.
#pragma once
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/tensor.hpp>
#include <functional>
#include <map>

namespace cotan::torch::autograd {

/// What forward() leaves for backward(): `torch.autograd.function.FunctionCtx`.
class AutogradContext {
 public:
  /// Tensors that backward() needs, among them operands and results; versions of them are checked.
  void save_for_backward(std::vector<Tensor> tensors) { saved_ = std::move(tensors); }
  /// The same, in backward().
  const std::vector<Tensor>& get_saved_variables() const { return saved_; }
  /// Numbers that backward() needs. They are part of the program: another one compiles it anew.
  std::map<std::string, double> saved_data;

 private:
  std::vector<Tensor> saved_;
};

namespace detail {
using Backward = std::vector<Tensor> (*)(AutogradContext*, std::vector<Tensor>);
/// `outputs`, whose derivatives with respect to `inputs` are what `backward` says.
std::vector<Tensor> connected(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                              const AutogradContext& context, Backward backward);
}  // namespace detail

/// A function whose derivative is written by hand, as `torch.autograd.Function`:
///
///     struct Cube : torch::autograd::Function<Cube> {
///       static Tensor forward(AutogradContext* ctx, const Tensor& x) {
///         ctx->save_for_backward({x});
///         return x * x * x;
///       }
///       static std::vector<Tensor> backward(AutogradContext* ctx, std::vector<Tensor> grads) {
///         const Tensor x = ctx->get_saved_variables()[0];
///         return {grads[0] * 3 * x * x};
///       }
///     };
///     Tensor y = Cube::apply(x);
///
/// forward() takes tensors and whatever else, and gives a tensor or a list of them; backward() gets a gradient for each
/// of those and gives one for each tensor that forward() takes (undefined ones are 0). It is part of the compiled
/// program, and is called when that is traced, not each time that it runs: it must depend on its arguments alone.
template <class Self>
struct Function {
  /// Calls forward(), and records what its derivative is.
  template <class... A>
  static auto apply(const A&... arguments) {
    AutogradContext context;
    std::vector<Tensor> inputs, outputs;
    const auto input = [&](const auto& a) {
      if constexpr (std::is_convertible_v<decltype(a), const Tensor&>) inputs.push_back(a);
    };
    (input(arguments), ...);
    const auto made = [&] {
      const no_grad off;
      return Self::forward(&context, arguments...);
    }();
    if constexpr (std::is_convertible_v<decltype(made), const Tensor&>)
      return detail::connected(inputs, {made}, context, &Self::backward)[0];
    else
      return detail::connected(inputs, made, context, &Self::backward);
  }
};

/// Of gradcheck.
struct GradcheckOptions {
  double eps = 1e-6;   ///< how far inputs are moved
  double atol = 1e-5;  ///< how far a derivative may be off,
  double rtol = 1e-3;  ///< and by which part of it
};
/// Raises where the derivatives of the sum of what `f` gives, weighted by some numbers, are not what central differences
/// say; `inputs` are float64 leaves that require gradients: `torch.autograd.gradcheck`.
bool gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options = {}, std::source_location where = COTAN_HERE);
/// The same of the gradients of `f`: second derivatives.
bool gradgradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs,
                   const GradcheckOptions& options = {}, std::source_location where = COTAN_HERE);

}  // namespace cotan::torch::autograd
