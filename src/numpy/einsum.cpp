// einsum: parsing, and contraction of the operands pairwise from the left.
#include <algorithm>
#include <cctype>
#include <cotan/numpy.hpp>
#include <map>

#include "numpy/contract.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

struct Term {
  std::string before, after;  // letters around the ellipsis
  bool ellipsis = false;
};

Term parse_term(std::string_view text, std::string_view subscripts) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = true;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      (term.ellipsis ? term.after : term.before) += text[i];
    } else {
      raise<ValueError>(
          "[einsum] '{}' in subscripts '{}' is not a letter; write letters, one '...' per term, ',' and "
          "'->'.",
          text[i], subscripts);
    }
  }
  return term;
}

// Letters are their own labels; the axes of an ellipsis are -1, -2, … counted from its end.
Labels labels_of(const Term& term, int ellipsis_axes) {
  Labels out(term.before.begin(), term.before.end());
  for (int i = ellipsis_axes; term.ellipsis && i > 0; --i) out.push_back(-i);
  out.insert(out.end(), term.after.begin(), term.after.end());
  return out;
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

Equation parse(std::string_view subscripts, const ArrayList& list) {
  const std::vector<Array>& operands = list;
  std::string text;
  for (char c : subscripts)
    if (c != ' ') text += c;
  const auto arrow = text.find("->");
  std::string_view inputs = std::string_view(text).substr(0, arrow);
  std::vector<Term> terms;
  for (std::size_t at = 0; at <= inputs.size();) {
    const auto comma = std::min(inputs.find(',', at), inputs.size());
    terms.push_back(parse_term(inputs.substr(at, comma - at), subscripts));
    at = comma + 1;
  }
  if (terms.size() != operands.size())
    raise<ValueError>("[einsum] subscripts '{}' name {} operands but {} are given; give one per term.", subscripts,
                      terms.size(), operands.size());

  Equation equation;
  int widest = 0;
  std::map<int, int> count;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const int letters = static_cast<int>(terms[i].before.size() + terms[i].after.size());
    const int rest = operands[i].ndim() - letters;
    if (rest < 0 || (rest > 0 && !terms[i].ellipsis))
      raise<ShapeError>("[einsum] operand {} has shape {} but {} subscripts in '{}'; name every axis, or write '...'.",
                        i, describe(operands[i].shape()), letters, subscripts);
    equation.inputs.push_back(labels_of(terms[i], rest));
    if (terms[i].ellipsis) widest = std::max(widest, rest);
    for (int label : equation.inputs.back()) ++count[label];
  }
  if (arrow == std::string::npos) {
    for (int i = widest; i > 0; --i) equation.output.push_back(-i);
    for (auto [label, times] : count)
      if (label > 0 && times == 1) equation.output.push_back(label);
    return equation;
  }
  equation.output = labels_of(parse_term(std::string_view(text).substr(arrow + 2), subscripts), widest);
  for (int label : equation.output) {
    if (!count.contains(label))
      raise<ValueError>(
          "[einsum] the output of '{}' has subscript '{}', which no operand has; sum over it or name it in "
          "an operand.",
          subscripts, static_cast<char>(label));
    if (std::count(equation.output.begin(), equation.output.end(), label) > 1)
      raise<ValueError>("[einsum] the output of '{}' has subscript '{}' twice; name it once.", subscripts,
                        static_cast<char>(label));
  }
  return equation;
}

/// Labels that occur twice in one operand: its diagonal.
void take_diagonals(Array& a, Labels& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto twin = std::find(labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, labels.end(), labels[i]);
    if (twin == labels.end()) continue;
    const auto j = static_cast<std::size_t>(twin - labels.begin());
    if (a.shape()[i] != a.shape()[j])
      raise<ShapeError>(
          "[einsum] subscript '{}' names axes of sizes {} and {} of one operand; a diagonal needs equal "
          "sizes.",
          static_cast<char>(labels[i]), a.shape()[i], a.shape()[j]);
    a = diagonal(a, 0, static_cast<int>(i), static_cast<int>(j));
    const int label = labels[i];
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(j));
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(i));
    labels.push_back(label);
    i = static_cast<std::size_t>(-1);  // the axes have moved: look again from the first
  }
}

}  // namespace

Array einsum(std::string_view subscripts, const ArrayList& list) {
  const std::vector<Array>& operands = list;
  if (operands.empty()) raise<ValueError>("[einsum] got no operands; give one per term of '{}'.", subscripts);
  Equation equation = parse(subscripts, operands);
  Arrays arrays = cast_all(operands, result_type(operands));
  for (std::size_t i = 0; i < arrays.size(); ++i) take_diagonals(arrays[i], equation.inputs[i]);

  Array product = arrays[0];
  Labels labels = equation.inputs[0];
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    // What this pair must leave: the labels that the result or a later operand still needs.
    Labels left;
    const bool last = i + 1 == arrays.size();
    if (last) {
      left = equation.output;
    } else {
      Labels all = labels;
      for (int label : equation.inputs[i])
        if (!has(all, label)) all.push_back(label);
      for (int label : all) {
        bool needed = has(equation.output, label);
        for (std::size_t j = i + 1; j < arrays.size(); ++j) needed |= has(equation.inputs[j], label);
        if (needed) left.push_back(label);
      }
    }
    product = contract("einsum", product, labels, arrays[i], equation.inputs[i], left);
    labels = left;
  }
  if (arrays.size() > 1) return product;

  Ints summed, permutation;
  Labels kept;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (has(equation.output, labels[i]))
      kept.push_back(labels[i]);
    else
      summed.push_back(static_cast<std::int64_t>(i));
  }
  if (!summed.empty())
    product =
        bind1(product.dtype() == DType::bool_ ? ops::reduce_or_p : ops::reduce_sum_p, {product}, {{"axes", summed}});
  for (int label : equation.output) permutation.push_back(std::find(kept.begin(), kept.end(), label) - kept.begin());
  return ops::transpose(product, permutation);
}

}  // namespace cotan::numpy
