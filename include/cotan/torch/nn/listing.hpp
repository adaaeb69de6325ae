// What a module consists of. A module is any struct: its fields are found as those of pytrees are (tree_fields.hpp),
// and one walk over them gives its parameters, buffers, flags and submodules with their names.
#pragma once
#include <array>
#include <cotan/torch/tensor.hpp>
#include <cotan/tree_fields.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

namespace cotan::torch::nn {

/// A tensor that is trained: `torch.nn.Parameter`. It collects gradients, and is among parameters().
struct Parameter : Tensor {
  Parameter() = default;
  /// Of these elements.
  Parameter(const Tensor& data, bool requires_grad = true);
};
/// A tensor that belongs to the state of a module and is not trained, such as running statistics: `torch.nn.Buffer`.
struct Buffer : Tensor {
  Buffer() = default;
  /// Of these elements; one that is not persistent is not in state_dict().
  Buffer(const Tensor& data, bool is_persistent = true) : Tensor(data), persistent(is_persistent) {}
  bool persistent = true;
};
/// Whether a module trains; train() and eval() set such fields. Modules that do something else then have one.
class Training {
 public:
  operator bool() const { return on_; }
  void set(bool on) { on_ = on; }  ///< what train() and eval() call

 private:
  bool on_ = true;
};

namespace detail {

/// Everything in a module, in PyTorch's order: own tensors first, then submodules. Pointers into the module.
class Listing {
 public:
  enum class Role : std::uint8_t { parameter, buffer, transient_buffer };
  struct Entry {
    std::string path;
    Tensor* tensor;
    Role role;
  };
  struct Module {
    std::string path;
    void* object;
    const std::type_info* type;
    std::size_t tensors, last_tensor;  ///< which entries are its own or its submodules'
  };
  std::vector<Entry> tensors;
  std::vector<Training*> flags;
  std::vector<Module> modules;
  bool behind_shared_pointers = false;

  void add(const Tensor& t, Role role);
  void add(const Training& flag) { flags.push_back(const_cast<Training*>(&flag)); }
  /// What `f` adds has names behind this one.
  template <class F>
  void inside(std::string_view name, const F& f) {
    const std::size_t length = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += name;
    f();
    path_.resize(length);
  }
  template <class T, class F>
  void module(const T& object, const F& f) {
    const std::size_t index = modules.size();
    modules.push_back({path_, const_cast<T*>(&object), &typeid(T), tensors.size(), 0});
    f();
    modules[index].last_tensor = tensors.size();
  }

 private:
  std::string path_;
};

template <class T>
inline constexpr bool is_tensor = std::is_base_of_v<Tensor, T>;
template <class T>
inline constexpr bool lists_itself = requires(const T& t, Listing& to) { t.list_module(to); };
template <class T>
inline constexpr bool is_pointer = requires(const T& t) {
  static_cast<bool>(t);
  *t;
} && !std::is_pointer_v<T>;
template <class T>
inline constexpr bool is_map = requires { typename T::mapped_type; };
template <class T>
inline constexpr bool is_list = requires(const T& t) {
  t.begin();
  t.end();
};
template <class T>
inline constexpr bool is_tuple = requires { std::tuple_size<T>::value; };
template <class T>
struct IsVariant : std::false_type {};
template <class... T>
struct IsVariant<std::variant<T...>> : std::true_type {};
template <class T>
struct IsSharedPointer : std::false_type {};
template <class T>
struct IsSharedPointer<std::shared_ptr<T>> : std::true_type {};
template <class T>
struct IsFunction : std::false_type {};
template <class F>
struct IsFunction<std::function<F>> : std::true_type {};
/// What never has tensors in it.
template <class T>
inline constexpr bool is_setting =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T> || std::is_same_v<T, std::monostate> ||
    std::is_convertible_v<const T&, std::string_view> || std::is_same_v<T, Array> || IsFunction<T>::value ||
    requires { typename T::IsSetting; } ||
    (std::is_empty_v<T> && !std::is_aggregate_v<T> && !tree::detail::Access::listed<T>);

template <class T>
void list(const T& value, Listing& to);

/// One field, if it is a tensor or else if it is none.
template <class T, std::size_t i, bool tensors, class Fields>
void list_field(const Fields& fields, Listing& to) {
  using F = std::remove_cvref_t<std::tuple_element_t<i, Fields>>;
  if constexpr (!is_setting<F> && is_tensor<F> == tensors)
    to.inside(tree::detail::field_name<T, i>().substr(1), [&] { list(std::get<i>(fields), to); });
}
template <class T, bool tensors, class Fields, std::size_t... i>
void list_fields_that(const Fields& fields, Listing& to, std::index_sequence<i...>) {
  (list_field<T, i, tensors>(fields, to), ...);
}
template <class T>
void list_fields(const T& value, Listing& to) {
  if constexpr (!tree::detail::Access::listed<T>)
    static_assert(std::is_aggregate_v<T>,
                  "a module with constructors, private fields or base classes must list its fields: "
                  "COTAN_TREE(weight, bias)");
  const auto fields = tree::detail::fields(value);
  constexpr std::make_index_sequence<std::tuple_size_v<std::remove_const_t<decltype(fields)>>> indices;
  to.module(value, [&] {
    list_fields_that<T, true>(fields, to, indices);
    list_fields_that<T, false>(fields, to, indices);
  });
}

/// Adds all that is in `value`.
template <class T>
void list(const T& value, Listing& to) {
  if constexpr (is_tensor<T>) {
    if constexpr (std::is_base_of_v<Buffer, T>)
      to.add(value, value.persistent ? Listing::Role::buffer : Listing::Role::transient_buffer);
    else  // a plain tensor is a parameter if it collects gradients
      if (std::is_base_of_v<Parameter, T> || (value.defined() && value.requires_grad() && value.is_leaf()))
        to.add(value, Listing::Role::parameter);
  } else if constexpr (std::is_same_v<T, Training>) {
    to.add(value);
  } else if constexpr (is_setting<T>) {
  } else if constexpr (lists_itself<T>) {
    value.list_module(to);
  } else if constexpr (is_pointer<T>) {
    if (value) list(*value, to);
    if constexpr (IsSharedPointer<T>::value) to.behind_shared_pointers = true;
  } else if constexpr (is_map<T>) {
    for (const auto& [name, element] : value) to.inside(std::string(name), [&, &e = element] { list(e, to); });
  } else if constexpr (is_list<T>) {
    std::size_t i = 0;
    if constexpr (!is_setting<std::remove_cvref_t<decltype(*value.begin())>>)
      for (const auto& element : value) to.inside(std::to_string(i++), [&] { list(element, to); });
  } else if constexpr (is_tuple<T>) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (to.inside(std::to_string(i), [&] { list(std::get<i>(value), to); }), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (IsVariant<T>::value) {
    std::visit([&](const auto& held) { list(held, to); }, value);
  } else {
    list_fields(value, to);
  }
}

}  // namespace detail
}  // namespace cotan::torch::nn
