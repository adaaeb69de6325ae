// What cotan throws. Messages follow one grammar:
//   [op] what is wrong, with shapes, dtypes and the pytree path; what to do.
#pragma once
#include <stdexcept>
#include <string>

namespace cotan {

/// What all errors are: catch (const ct::Error& e) { std::cerr << e.what(); }
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Shapes, axes or sizes that do not fit.
struct ShapeError : Error {
  using Error::Error;
};
/// Dtypes that do not fit.
struct TypeError : Error {
  using Error::Error;
};
/// An index or axis outside its range.
struct IndexError : Error {
  using Error::Error;
};
/// A pytree whose structure does not fit.
struct TreeError : Error {
  using Error::Error;
};
/// An argument value that makes no sense.
struct ValueError : Error {
  using Error::Error;
};
/// A value was asked of something that has none yet: bool(), item(), to_vector() under a transform.
struct ConcretizationError : Error {
  using Error::Error;
};
/// A tracer was used after the transform that made it had ended.
struct LeakedTracerError : Error {
  using Error::Error;
};
/// A primitive lacks the rule a transform needs, or the function is not differentiable that way.
struct TransformError : Error {
  using Error::Error;
};
/// debug_nans found a NaN; the message names the primitive.
struct NanError : Error {
  using Error::Error;
};
/// A file that cannot be read or written, or is not what it should be.
struct IoError : Error {
  using Error::Error;
};
/// A device that does not exist or cannot do what is asked.
struct DeviceError : Error {
  using Error::Error;
};
/// An allocation that failed or is larger than the device can ever hold.
struct OutOfMemoryError : Error {
  using Error::Error;
};
/// A program that could not be compiled; the message holds the program.
struct CompileError : Error {
  using Error::Error;
};
/// A bug in cotan: the verifier or an internal check failed.
struct InternalError : Error {
  using Error::Error;
};

namespace detail {
std::string call_note();  // call_site.hpp
}
/// Throws an E that ends with the line of the user's call, where it is known. For libraries on top of cotan.
template <class E = Error>
[[noreturn]] void throw_with_line(const std::string& message) {
  throw E(message + detail::call_note());
}

}  // namespace cotan
