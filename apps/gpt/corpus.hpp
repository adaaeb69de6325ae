// A text for the demo, made on the spot: sentences on small numbers, so that what a model has learned can be checked.
#pragma once
#include <cstdint>
#include <string>

namespace gpt {

/// About `characters` of sentences such as "three plus four is seven." in random order.
std::string number_sentences(std::size_t characters, std::uint64_t seed);

/// How many complete sentences a text has, and how many of them are true.
struct Truth {
  int sentences = 0, grammatical = 0, true_ones = 0;
};
Truth check_sentences(const std::string& text);

}  // namespace gpt
