// Pytrees: structs, lists, tuples, maps and optionals of Arrays, and functions over their leaves.
#pragma once
#include <cotan/tree_leaves.hpp>
#include <cotan/tree_map.hpp>
#include <cotan/tree_outline.hpp>
