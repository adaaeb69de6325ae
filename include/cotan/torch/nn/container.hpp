// torch::nn: modules one after the other, and lists of modules.
#pragma once
#include <cotan/torch/nn/module.hpp>
#include <typeinfo>

namespace cotan::torch::nn {

namespace detail {

/// A module of any type.
class Part {
 public:
  struct Held {
    virtual ~Held() = default;
    virtual Tensor call(const Tensor& x) const = 0;
    virtual void list_module(Listing& to) const = 0;
    virtual std::unique_ptr<Held> copy() const = 0;
  };
  template <class M>
  struct Holds final : Held {
    explicit Holds(M m) : module(std::move(m)) {}
    Tensor call(const Tensor& x) const override { return module(x); }
    void list_module(Listing& to) const override { list(module, to); }
    std::unique_ptr<Held> copy() const override {
      if constexpr (std::is_copy_constructible_v<M>)
        return std::make_unique<Holds>(module);
      else
        throw TypeError("[Sequential] a module in it cannot be copied; move the Sequential.");
    }
    M module;
  };
  template <class M>
    requires(!std::is_same_v<M, Part>)
  explicit Part(M module) : held(std::make_unique<Holds<M>>(std::move(module))) {}
  Part(const Part& other) : held(other.held->copy()) {}
  Part(Part&&) = default;
  Part& operator=(Part other) {
    held = std::move(other.held);
    return *this;
  }
  std::unique_ptr<Held> held;
};

}  // namespace detail

/// Modules of any type that turn a tensor into one, called one after the other. Their names are their numbers.
///
///     nn::Sequential net{nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 1)};
class Sequential {
 public:
  Sequential() = default;
  Sequential(const Sequential&) = default;
  Sequential(Sequential&&) = default;
  Sequential& operator=(const Sequential&) = default;
  Sequential& operator=(Sequential&&) = default;
  /// Of these modules, or functions without state.
  template <class... M>
    requires((std::is_invocable_r_v<Tensor, const M&, const Tensor&> && ...) && sizeof...(M) > 0 &&
             !(std::is_same_v<M, Sequential> && ...))
  Sequential(M... modules) {
    (push_back(std::move(modules)), ...);
  }
  /// One more behind the others.
  template <class M>
  void push_back(M module) {
    parts_.emplace_back(std::move(module));
  }
  /// Through all of them.
  Tensor operator()(const Tensor& x) const {
    Tensor out = x;
    for (const detail::Part& p : parts_) out = p.held->call(out);
    return out;
  }
  std::size_t size() const { return parts_.size(); }  ///< how many there are
  /// The i-th one, which is of that type; another raises std::bad_cast.
  template <class M>
  M& at(std::size_t i) {
    return dynamic_cast<detail::Part::Holds<M>&>(*parts_.at(i).held).module;
  }
  /// The i-th one.
  template <class M>
  const M& at(std::size_t i) const {
    return dynamic_cast<const detail::Part::Holds<M>&>(*parts_.at(i).held).module;
  }
  /// For the library.
  void list_module(detail::Listing& to) const {
    to.module(*this, [&] {
      for (std::size_t i = 0; i < parts_.size(); ++i)
        to.inside(std::to_string(i), [&] { parts_[i].held->list_module(to); });
    });
  }

 private:
  std::vector<detail::Part> parts_;
};

/// Modules of one type; a std::vector. (A vector of n copies of one module would hold the same weights n times.)
///
///     nn::ModuleList<Block> blocks{12, [] { return Block{}; }};
template <class M>
class ModuleList : public std::vector<M> {
 public:
  using std::vector<M>::vector;
  /// What `make` gives, so many times.
  template <class F>
    requires std::is_invocable_r_v<M, const F&>
  ModuleList(std::int64_t count, const F& make) {
    for (std::int64_t i = 0; i < count; ++i) this->push_back(make());
  }
};

}  // namespace cotan::torch::nn
