// Operations of the frontend. One is a name, what it keeps for its derivative, and a rule: a function of Arrays, which
// is what the shared compiler and the shared derivatives see. Nothing else about it is written down: types of results
// come from tracing the rule once per types of operands.
//
//     Tensor softmax(const Input& x, int dim) {
//       static const auto op = define("softmax", {.saves = Saves::result},
//                                     [](const Array& a, int axis) { return nn::softmax(a, axis); });
//       return op(x, dim);
//     }
//
// Parameters of a rule: Array (a tensor), std::optional<Array> (a tensor that may be undefined), Arrays (a list of
// tensors), Number (a C++ number that is an argument of the program, so that another one compiles nothing), Key (of
// random numbers, always the last one, given by the generator); all others are attributes: part of the program.
#pragma once
#include <cotan/flat.hpp>
#include <cotan/torch/tensor.hpp>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "torch/graph/hashing.hpp"
#include "torch/graph/record.hpp"

namespace cotan::torch::detail {

/// A C++ number, as the program sees it: a 0-d array of the widest float of the device. `like` makes it an x's dtype.
struct Number {
  Array array;
  Array like(const Array& x) const { return array.astype(x.dtype()); }
};
/// The key of this draw, for cotan::random.
struct Key {
  Array array;
};

/// The device of what an operation without tensors makes.
struct Place {
  std::string device;  ///< cotan's name
};

/// The traits of an operation: what its derivative keeps (versions of those are checked), and what autocast does to it.
struct Traits {
  Saves saves = Saves::none;
  Cast cast = Cast::none;
  bool differentiable = true;  ///< otherwise its results never require gradients
};

class OpBase {
 public:
  OpBase(std::string_view op_name, Traits op_traits) : name(op_name), traits(op_traits) {}
  virtual ~OpBase() = default;
  /// What the rule gives for `operands`: tensors, then numbers, then the key, in the order of parameters.
  virtual Arrays lower(const Call& call, std::span<const Array> operands) const = 0;
  const std::string_view name;
  const Traits traits;
  bool draws = false;  ///< takes a key
};

/// Sets `call.out` by tracing the rule on the types of its operands; `place` is where they are if there are none.
/// Errors of the rule name the user's line.
void find_result_types(Call& call, std::size_t numbers, const std::string& place);

template <class P>
struct Parameter {
  using Attr = P;
  template <class A>
  static Attr record(Recorder&, A&& argument) {
    return Attr(std::forward<A>(argument));
  }
  static P read(const Attr& attr, OperandReader&) { return attr; }
};
template <>
struct Parameter<Array> {
  using Attr = std::monostate;
  static Attr record(Recorder& recorder, const Tensor& tensor) {
    recorder.input(tensor);
    return {};
  }
  static Array read(const Attr&, OperandReader& reader) { return reader.tensor(); }
};
template <>
struct Parameter<std::optional<Array>> {
  using Attr = bool;
  static Attr record(Recorder& recorder, const Tensor& tensor) {
    if (tensor.defined()) recorder.input(tensor);
    return tensor.defined();
  }
  static std::optional<Array> read(const Attr& present, OperandReader& reader) {
    return present ? std::optional(reader.tensor()) : std::nullopt;
  }
};
template <>
struct Parameter<Arrays> {
  using Attr = std::size_t;
  static Attr record(Recorder& recorder, std::span<const Tensor> tensors) {
    for (const Tensor& t : tensors) recorder.input(t);
    return tensors.size();
  }
  static Arrays read(const Attr& count, OperandReader& reader) {
    Arrays out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(reader.tensor());
    return out;
  }
};
template <>
struct Parameter<Number> {
  using Attr = std::monostate;
  static Attr record(Recorder& recorder, double number) {
    recorder.number(number);
    return {};
  }
  static Number read(const Attr&, OperandReader& reader) { return {reader.number()}; }
};
template <>
struct Parameter<Place> {
  using Attr = std::string;
  static Attr record(Recorder& recorder, const Place& place) {
    recorder.place(place.device);
    return place.device;
  }
  static Place read(const Attr& device, OperandReader&) { return {device}; }
};
template <>
struct Parameter<Key> {
  using Attr = std::monostate;
  static Key read(const Attr&, OperandReader& reader) { return {reader.key()}; }
};

template <class R>
struct Results {  // Arrays, or a tuple of Array
  static Arrays list(R&& r) {
    if constexpr (std::is_same_v<R, Arrays>)
      return std::move(r);
    else
      return std::apply([](auto&&... a) { return Arrays{a...}; }, std::move(r));
  }
  template <class T>
  static auto tensors(std::vector<T>&& t) {
    if constexpr (std::is_same_v<R, Arrays>)
      return std::move(t);
    else if constexpr (std::tuple_size_v<R> == 2)
      return std::pair{t[0], t[1]};
    else
      return std::tuple{t[0], t[1], t[2]};
  }
};
template <>
struct Results<Array> {
  static Arrays list(Array&& a) { return {std::move(a)}; }
  template <class T>
  static T tensors(std::vector<T>&& t) {
    return std::move(t[0]);
  }
};

template <class R, class... P>
class Op final : public OpBase {
 public:
  using Rule = R (*)(P...);
  using Attrs = std::tuple<typename Parameter<std::remove_cvref_t<P>>::Attr...>;

  Op(std::string_view op_name, Traits op_traits, Rule rule) : OpBase(op_name, op_traits), rule_(rule) {
    draws = (std::is_same_v<std::remove_cvref_t<P>, Key> || ...);
  }

  /// Records a call: an argument per parameter of the rule but the key.
  template <class... A>
  auto operator()(const A&... arguments) const {
    if constexpr (std::is_same_v<R, Array>)
      return record(arguments...).tensor();
    else
      return Results<R>::tensors(record(arguments...).tensors());
  }
  /// The same, without tensors around the results: for views and writes.
  template <class... A>
  Value value(const A&... arguments) const {
    return record(arguments...).value();
  }

  Arrays lower(const Call& call, std::span<const Array> operands) const override {
    const Attrs& attrs = static_cast<const CallOf&>(call).attrs;
    OperandReader reader(call.in.size(), operands);
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      // Braces: the order of evaluation is that of parameters.
      std::tuple<std::remove_cvref_t<P>...> parameters{
          Parameter<std::remove_cvref_t<P>>::read(std::get<i>(attrs), reader)...};
      return Results<R>::list(rule_(std::get<i>(std::move(parameters))...));
    }(std::index_sequence_for<P...>());
  }

 private:
  struct CallOf : Call {
    Attrs attrs;
  };

  template <class... A>
  Recorder record(const A&... arguments) const {
    constexpr bool has_key = (std::is_same_v<std::remove_cvref_t<P>, Key> || ... || false);
    static_assert(sizeof...(A) + has_key == sizeof...(P), "an argument per parameter of the rule");
    Recorder recorder(*this);
    Attrs attrs = record_parameters(recorder, std::forward_as_tuple(arguments...), std::index_sequence_for<A...>());
    recorder.settle();
    recorder.finish(find(std::move(attrs), recorder));
    return recorder;
  }
  template <class T, std::size_t... i>
  static Attrs record_parameters(Recorder& recorder, const T& arguments, std::index_sequence<i...>) {
    Attrs attrs;
    ((std::get<i>(attrs) = Parameter<std::remove_cvref_t<std::tuple_element_t<i, std::tuple<P...>>>>::record(
          recorder, std::get<i>(arguments))),
     ...);
    return attrs;
  }
  const Call* find(Attrs&& attrs, const Recorder& recorder) const {
    const std::span<const TypePtr> types = recorder.types();
    std::size_t hash = hash_of(types.size(), attrs);
    for (const TypePtr t : types) hash = mixed(hash, reinterpret_cast<std::uintptr_t>(t));
    {
      std::lock_guard lock(mutex_);
      const auto [first, last] = calls_.equal_range(hash);
      for (auto it = first; it != last; ++it)
        if (std::equal(types.begin(), types.end(), it->second->in.begin(), it->second->in.end()) &&
            same(it->second->attrs, attrs))
          return it->second.get();
    }
    auto call = std::make_unique<CallOf>();
    call->op = this;
    call->in.assign(types.begin(), types.end());
    call->attrs = std::move(attrs);
    find_result_types(*call, recorder.number_count(), recorder.place());
    std::lock_guard lock(mutex_);
    return calls_.emplace(hash, std::move(call))->second.get();
  }

  Rule rule_;
  mutable std::mutex mutex_;
  mutable std::unordered_multimap<std::size_t, std::unique_ptr<CallOf>> calls_;
};

template <class R, class... P>
Op<R, P...> make_op(std::string_view name, Traits traits, R (*rule)(P...)) {
  return Op<R, P...>(name, traits, rule);
}
/// An operation by its rule, a lambda that captures nothing.
template <class F>
auto define(std::string_view name, Traits traits, F rule) {
  return make_op(name, traits, +rule);
}

}  // namespace cotan::torch::detail
