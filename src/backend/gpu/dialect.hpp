// Dialect: how a language of shaders spells what not all of them spell alike. Who writes shaders asks it, and knows no
// language.
//
// What languages in the manner of C have in common is written as it is, and a dialect sees to it that it means the
// same: operators, calls, blocks, `if`, `for`, `break`, `continue`, `return`; the types f32, i32, u32 and bool,
// conversions between them as in f32(x); vectors' components x, y, z and w, or [number]; numbers as in 7, 7u and 0.5f;
// integers that wrap around; and functions that work on numbers and on vectors of them: select(no, yes, condition),
// min, max, abs, fma, sqrt, exp, floor, ceil, trunc, round (to even). In a shader, `thread` is the number of a thread
// in its group, `group` and `groups` (.x, .y, .z) say which group it is and how many there are, `m0`, `m1`, … are
// blocks of memory.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cotan::gpu {

/// What is around the body of a shader.
struct ShaderFrame {
  int blocks = 0;          ///< of memory, which it binds
  bool vectors = false;    ///< they are arrays of vectors of four u32, not of u32
  std::size_t words = 0;   ///< that it is given with each call
  bool subgroups = false;  ///< whether it uses them
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  /// For messages: the name of the language, and of the device that it is for.
  const std::string_view language, device;

  // Statements.
  /// `name` for a value from here on.
  virtual std::string let(const std::string& name, const std::string& value) const = 0;
  /// A variable of the type of its first value: a statement without its end, for heads of loops too.
  virtual std::string variable(const std::string& name, const std::string& value) const = 0;
  /// The same of a type; without a value it is zero.
  virtual std::string variable_of(const std::string& type, const std::string& name, const std::string& value) const = 0;
  /// An array of a thread's own.
  virtual std::string array(const std::string& type, const std::string& name, std::int64_t count) const = 0;
  /// A number that is known when the shader is compiled.
  virtual std::string constant(const std::string& name, const std::string& value) const = 0;

  // Values.
  virtual std::string bitcast(const std::string& type, const std::string& x) const = 0;
  /// A number of type i32 where nothing else says so.
  virtual std::string signed_number(std::int64_t value) const = 0;
  /// The type of vectors of four, and one of these elements: four, one for all, or none for zeros.
  virtual std::string vector(const std::string& type) const = 0;
  virtual std::string make_vector(const std::string& type, const std::string& elements) const = 0;
  /// Element `index` of an array of vectors, as if it were one of numbers.
  virtual std::string element_of_vectors(const std::string& array, const std::string& index) const = 0;
  /// Bits of a u32: how many are set, how many zeros come first, the number of the highest that is set.
  virtual std::string count_ones(const std::string& x) const = 0;
  virtual std::string leading_zeros(const std::string& x) const = 0;
  virtual std::string highest_one(const std::string& x) const = 0;
  /// Word `number` of what the shader is given; the second one for a number, a u32, that is only known there.
  virtual std::string given(std::size_t number) const = 0;
  virtual std::string given_at(const std::string& number) const = 0;

  // Threads of a group.
  /// A declaration of memory that they share: an array, or with `count` 0 a single value.
  virtual std::string shared(const std::string& type, const std::string& name, std::int64_t count) const = 0;
  /// Statements: all threads meet, and see what the others have written to shared memory; to other memory.
  virtual std::string barrier() const = 0;
  virtual std::string memory_barrier() const = 0;
  /// A barrier, and the value of a shared variable behind it, which compilers know to be the same in all threads.
  virtual std::string uniform_load(const std::string& name) const = 0;
  /// The type of shared integers that threads change at the same time; `place` is one of them.
  virtual std::string atomic(const std::string& type) const = 0;
  virtual std::string atomic_load(const std::string& place) const = 0;
  virtual std::string atomic_add(const std::string& place, const std::string& x) const = 0;
  virtual std::string atomic_exchange(const std::string& place, const std::string& x) const = 0;

  // Threads of a subgroup: x of thread number `lane` of it, of the one whose number differs in these bits, of the one
  // so many before; and a u32 of all answers, the first thread's in the lowest bit.
  virtual std::string shuffle(const std::string& x, const std::string& lane) const = 0;
  virtual std::string shuffle_xor(const std::string& x, std::uint32_t bits) const = 0;
  virtual std::string shuffle_up(const std::string& x, std::uint32_t distance) const = 0;
  virtual std::string ballot(const std::string& condition) const = 0;

  // The text around.
  /// Functions of the library (library/math_library.hpp), each once and before its first use.
  virtual std::string library(std::span<const std::string_view> names) const = 0;
  /// The head of the shader's function, up to where its body begins.
  virtual std::string entry(std::uint32_t threads) const = 0;
  /// What stands before everything else.
  virtual std::string preamble(const ShaderFrame& frame) const = 0;

 protected:
  Dialect(std::string_view language, std::string_view device) : language(language), device(device) {}
};

}  // namespace cotan::gpu
