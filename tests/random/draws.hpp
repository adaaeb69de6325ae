// The draws of tools/golden/random_bits.py, by name.
#pragma once
#include <cotan/cotan.hpp>
#include <functional>
#include <map>
#include <string>

namespace draws {

using cotan::Array;
using cotan::DType;
using cotan::Shape;

/// Of a key, a shape and a dtype.
using Draw = std::function<Array(const Array&, const Shape&, DType)>;
const std::map<std::string, Draw>& all();

}  // namespace draws
