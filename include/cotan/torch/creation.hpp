// Tensors that are made of numbers, and of random ones.
#pragma once
#include <cotan/numpy/creation.hpp>
#include <cotan/torch/tensor.hpp>
#include <initializer_list>

namespace cotan::torch {

namespace detail {
struct Draw;
/// An array as a tensor as the options say, of dtype `otherwise` where they say none.
Tensor made(const Array& array, const TensorOptions& options, DType otherwise, const std::source_location& where);
}  // namespace detail

/// Where random numbers come from: a seed, and how many draws there were. Copies are the same generator. An option
/// names it: rand({3}, {.generator = &g}).
class Generator {
 public:
  Generator();
  void manual_seed(std::uint64_t seed) const;  ///< begins anew
  std::uint64_t initial_seed() const;          ///< the seed
  detail::Draw draw() const;                   ///< for the library

 private:
  struct State;
  std::shared_ptr<State> state_;
};
const Generator& default_generator();  ///< of all that name no other one

/// @name Of given numbers
/// Integers give int64, floats float32, unless an option says otherwise.
/// @{
/// A tensor of nested lists: tensor({{1., 2.}, {3., 4.}}).
Tensor tensor(std::initializer_list<numpy::Nested> items, const TensorOptions& options = {},
              std::source_location where = COTAN_HERE);
Tensor tensor(const numpy::Nested& number, const TensorOptions& options = {},
              std::source_location where = COTAN_HERE);  ///< a 0-d tensor of one number
/// A vector of numbers.
template <HostElement T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {},
              std::source_location where = COTAN_HERE) {
  const DType t = std::is_same_v<T, bool> ? DType::bool_ : std::is_integral_v<T> ? i64 : f32;
  return detail::made(Array::from_host(values), options, t, where);
}
/// A copy of `size` numbers at `data`, in their dtype; the shape may be any of so many.
template <HostElement T>
Tensor from_blob(const T* data, const Shape& size, const TensorOptions& options = {},
                 std::source_location where = COTAN_HERE) {
  std::size_t count = 1;
  for (const std::int64_t n : size) count *= static_cast<std::size_t>(n);
  const Array array = Array::from_host(std::vector<T>(data, data + count), size);
  return detail::made(array, options, array.dtype(), where);
}
/// @}

/// @name Constant ones
/// @{
/// Elements of one value; of that of the number: int64, bool or float32, unless an option says otherwise.
Tensor full(const Shape& size, const Operand& value, const TensorOptions& options = {},
            std::source_location where = COTAN_HERE);
Tensor zeros(const Shape& size, const TensorOptions& options = {}, std::source_location where = COTAN_HERE);  ///< 0
Tensor ones(const Shape& size, const TensorOptions& options = {}, std::source_location where = COTAN_HERE);   ///< 1
Tensor empty(const Shape& size, const TensorOptions& options = {},
             std::source_location where = COTAN_HERE);  ///< here 0 too
Tensor full_like(const Input& x, const Operand& value,
                 const TensorOptions& options = {});                   ///< of x's shape, dtype, device
Tensor zeros_like(const Input& x, const TensorOptions& options = {});  ///< of x's shape, dtype and device
Tensor ones_like(const Input& x, const TensorOptions& options = {});   ///< of x's shape, dtype and device
Tensor empty_like(const Input& x, const TensorOptions& options = {});  ///< of x's shape, dtype and device
Tensor eye(std::int64_t n, std::optional<std::int64_t> m = {}, const TensorOptions& options = {},
           std::source_location where = COTAN_HERE);  ///< 1 on the diagonal
/// @}

/// @name Ranges
/// @{
/// Numbers from start to before end; of integers int64.
Tensor arange(const Operand& start, const Operand& end, const Operand& step = 1, const TensorOptions& options = {});
Tensor arange(const Operand& end, const TensorOptions& options = {});  ///< from 0
Tensor linspace(double start, double end, std::int64_t steps, const TensorOptions& options = {},
                std::source_location where = COTAN_HERE);  ///< as many numbers, both ends among them
Tensor logspace(double start, double end, std::int64_t steps, double base = 10, const TensorOptions& options = {},
                std::source_location where = COTAN_HERE);  ///< powers of the base
/// @}

/// @name Random numbers
/// Of the generator of all threads (manual_seed), or of one that an option names.
/// @{
Tensor randn(const Shape& size, const TensorOptions& options = {},
             std::source_location where = COTAN_HERE);  ///< normal
Tensor rand(const Shape& size, const TensorOptions& options = {},
            std::source_location where = COTAN_HERE);  ///< in [0, 1)
Tensor randint(std::int64_t low, std::int64_t high, const Shape& size, const TensorOptions& options = {},
               std::source_location where = COTAN_HERE);  ///< int64, from low to before high
Tensor randint(std::int64_t high, const Shape& size, const TensorOptions& options = {},
               std::source_location where = COTAN_HERE);  ///< from 0
Tensor randperm(std::int64_t n, const TensorOptions& options = {},
                std::source_location where = COTAN_HERE);              ///< 0 to n - 1
Tensor randn_like(const Input& x, const TensorOptions& options = {});  ///< of x's shape, dtype and device
Tensor rand_like(const Input& x, const TensorOptions& options = {});   ///< of x's shape, dtype and device
Tensor randint_like(const Input& x, std::int64_t low, std::int64_t high,
                    const TensorOptions& options = {});  ///< of x's shape
Tensor normal(double mean, double std, const Shape& size, const TensorOptions& options = {},
              std::source_location where = COTAN_HERE);  ///< of that mean and standard deviation
Tensor normal(const Input& mean, const Input& std);      ///< one for each element
Tensor bernoulli(const Input& p);                        ///< 1 with probability p, else 0, in p's dtype
/// Indices drawn by weights, rows of which are the last axis; with replacement or without.
Tensor multinomial(const Input& weights, std::int64_t num_samples, bool replacement = false);
/// The numbers of all draws from here on.
void manual_seed(std::uint64_t seed);
/// @}

}  // namespace cotan::torch
