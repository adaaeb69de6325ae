// How the files of windows see elements: offsets for the reference, expressions for compilers.
#pragma once
#include "expr/lowering.hpp"
#include "ops/strided.hpp"
#include "ops/window.hpp"

namespace cotan::ops {

/// Per axis and pair of (place, tap), the index of the element that they meet, or -1.
class MetElements {
 public:
  MetElements(const Shape& operand, const WindowParams& w);
  /// f(number of the place, number of the tap, offset of the element or -1), all row-major, taps inside places.
  template <class F>
  void for_each(F&& f) const {
    const std::int64_t places = product(places_), taps = product(dimensions_);
    const Ints none_place(places_.size(), 0);
    Ints place(places_.size()), tap(places_.size());
    for (std::int64_t p = 0; p < places; ++p) {
      unravel(p, places_, place);
      for (std::int64_t t = 0; t < taps; ++t) {
        unravel(t, dimensions_, tap);
        f(p, t, offset(place, tap));
      }
    }
  }

 private:
  static void unravel(std::int64_t number, const Shape& shape, Ints& index);
  std::int64_t offset(const Ints& place, const Ints& tap) const;

  Shape places_;
  Ints dimensions_, strides_;
  std::vector<Ints> index_;
};

/// The index of the element that a tap of the window at a place meets; clears `inside` where that is padding.
std::vector<expr::Expr> met_element(const WindowParams& w, const Shape& operand, std::span<const expr::Expr> place,
                                    std::span<const expr::Expr> tap, expr::Expr& inside);

/// Raises unless the parameters fit the operand; its windows' places.
Shape checked_places(const Primitive& self, const AbstractValue& x, const WindowParams& w);

}  // namespace cotan::ops
