// What options of optimizers hold: numbers, scalar Arrays, and functions of the step.
#pragma once
#include <cotan/array.hpp>
#include <functional>
#include <optional>
#include <variant>

namespace cotan::optax {

/// A hyperparameter: a C++ number, or a scalar Array, which may be traced: mapped over, differentiated, or kept in a
/// state (inject_hyperparams). It takes the dtype of what it meets.
class Hyperparameter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  Hyperparameter(T value) : number_(static_cast<double>(value)) {}
  Hyperparameter(const Array& value) : array_(value) {}
  bool is_number() const { return !array_.defined(); }  ///< whether it is a C++ number
  double number() const { return number_; }             ///< that number
  /// As an Array that takes the dtype of `x`.
  Array like(const Array& x) const { return like(x.dtype()); }
  /// The same for a dtype.
  Array like(DType dtype) const;
  /// By itself: a number is a weak scalar.
  Array array() const { return is_number() ? Array(number_) : array_; }

 private:
  double number_ = 0;
  Array array_;
};

/// A value that depends on the step: a function of its number, an i32 scalar that counts from 0. Called with another
/// Array of steps it gives as many values. `optax.Schedule`.
class Schedule {
 public:
  /// Of any function of an Array.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Schedule> && std::is_invocable_r_v<Array, const F&, const Array&>)
  Schedule(F f) : function_(std::move(f)) {}
  /// Of a function that takes steps as real numbers too: it computes in the dtype of the parameters.
  static Schedule of_real(std::function<Array(const Array& step)> f);
  /// The value at a step; of integers it is f32, of floats in their dtype.
  Array operator()(const ArrayLike& step) const;
  /// The value at an integer step, in a dtype.
  Array at(const Array& step, DType dtype) const;

 private:
  std::function<Array(const Array&)> function_;
  bool real_ = false;
};

/// What a learning rate may be: a hyperparameter, or a schedule.
class ScalarOrSchedule {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  ScalarOrSchedule(T value) : value_(Hyperparameter(value)) {}
  ScalarOrSchedule(const Array& value) : value_(Hyperparameter(value)) {}
  ScalarOrSchedule(const Hyperparameter& value) : value_(value) {}
  ScalarOrSchedule(const Schedule& schedule) : value_(schedule) {}
  template <class F>
    requires(!std::is_convertible_v<F, Array> && !std::is_same_v<std::remove_cvref_t<F>, ScalarOrSchedule> &&
             std::is_invocable_r_v<Array, const F&, const Array&>)
  ScalarOrSchedule(F f) : value_(Schedule(std::move(f))) {}
  /// Whether it depends on the step.
  bool is_schedule() const { return std::holds_alternative<Schedule>(value_); }
  const Schedule& schedule() const { return std::get<Schedule>(value_); }            ///< where it does
  const Hyperparameter& scalar() const { return std::get<Hyperparameter>(value_); }  ///< where it does not
  /// The value at an integer step.
  Hyperparameter at(const Array& step, DType dtype) const {
    return is_schedule() ? Hyperparameter(schedule().at(step, dtype)) : scalar();
  }

 private:
  std::variant<Hyperparameter, Schedule> value_;
};

}  // namespace cotan::optax
