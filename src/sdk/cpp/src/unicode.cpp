#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "unicode.hpp"
#include "text.hpp"

namespace keyledger {
namespace {

/**
 * Points that become something else: `count` of them, each `step` after the one before. Their texts have `size` units each, from `at` on; of a
 * run that slides, only the first has one, and the points of the others follow in the same steps.
 */
struct run {
  char32_t first;
  std::uint16_t count;
  std::uint16_t at;
  std::uint8_t step;
  std::uint8_t size;
  bool slides;
};

#include "unicode-data.inc"

constexpr char32_t hangul = 0xac00;
constexpr char32_t lead = 0x1100;
constexpr char32_t vowel = 0x1161;
constexpr char32_t trail = 0x11a7;
constexpr char32_t vowels = 21;
constexpr char32_t trails = 28;
constexpr char32_t syllables = 19 * vowels * trails;

template <class T, std::size_t Size>
std::optional<std::size_t> place_in(const T (&all)[Size], char32_t point) {
  const T* found = std::lower_bound(all, all + Size, point);
  if (found == all + Size || *found != point) return std::nullopt;
  return static_cast<std::size_t>(found - all);
}

void append_units(std::u32string& into, const std::uint16_t* from, const std::uint16_t* to) {
  for (; from < to; ++from) {
    if (*from >= 0xd800 && *from <= 0xdbff) {
      into.push_back(0x10000 + ((static_cast<char32_t>(*from) - 0xd800) << 10) + (static_cast<char32_t>(from[1]) - 0xdc00));
      ++from;
    } else {
      into.push_back(*from);
    }
  }
}

/** What becomes of a point, as a table says. */
template <std::size_t Size>
void append_mapped(std::u32string& into, char32_t point, const run (&runs)[Size], const std::uint16_t* units) {
  const run* found = std::upper_bound(runs, runs + Size, point, [](char32_t one, const run& other) { return one < other.first; });
  const char32_t past = found == runs ? 0 : point - (--found)->first;
  const char32_t number = past / found->step;
  if (point < found->first || past % found->step != 0 || number >= found->count) {
    into.push_back(point);
    return;
  }
  const std::uint16_t* from = units + found->at + (found->slides ? 0 : number * found->size);
  append_units(into, from, from + found->size);
  if (found->slides) into.back() += past;
}

void append_decomposed(std::u32string& into, char32_t point) {
  if (point >= hangul && point < hangul + syllables) {
    const char32_t at = point - hangul;
    into.push_back(lead + at / (vowels * trails));
    into.push_back(vowel + at % (vowels * trails) / trails);
    if (at % trails != 0) into.push_back(trail + at % trails);
    return;
  }
  append_mapped(into, point, decomposed_runs, decomposed_units);
}

/** The place of a mark among others; 0 for a character that no mark moves past. */
unsigned rank_of(char32_t point) {
  const auto at = place_in(mark_points, point);
  return at ? mark_ranks[*at] : 0;
}

/** Brings the marks after each character into their order. */
void order(std::u32string& text) {
  for (auto from = text.begin(); from != text.end();) {
    if (rank_of(*from) == 0) {
      ++from;
      continue;
    }
    const auto to = std::find_if(from, text.end(), [](char32_t point) { return rank_of(point) == 0; });
    std::stable_sort(from, to, [](char32_t one, char32_t other) { return rank_of(one) < rank_of(other); });
    from = to;
  }
}

std::optional<char32_t> together(char32_t one, char32_t other) {
  if (one >= lead && one < lead + 19 && other >= vowel && other < vowel + vowels) return hangul + ((one - lead) * vowels + other - vowel) * trails;
  if (one >= hangul && one < hangul + syllables && (one - hangul) % trails == 0 && other > trail && other < trail + trails) return one + other - trail;
  std::size_t low = 0;
  std::size_t high = sizeof composed / sizeof *composed / 3;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const char32_t* found = composed + middle * 3;
    if (found[0] == one && found[1] == other) return found[2];
    if (found[0] < one || (found[0] == one && found[1] < other)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

std::u32string compose(const std::u32string& text) {
  std::u32string into;
  std::optional<std::size_t> starter;
  unsigned last = 0;
  for (const char32_t point : text) {
    const unsigned rank = rank_of(point);
    const bool is_blocked = starter && *starter + 1 != into.size() && (last >= rank || last == 0);
    if (starter && !is_blocked) {
      if (const auto joined = together(into[*starter], point)) {
        into[*starter] = *joined;
        continue;
      }
    }
    if (rank == 0) starter = into.size();
    last = rank;
    into.push_back(point);
  }
  return into;
}

std::string text_of(const std::u32string& points) {
  std::string into;
  for (const char32_t point : points) append_point(into, point);
  return into;
}

}  // namespace

std::string upper_nfkc(const std::string& text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) append_decomposed(points, next_point(text, at));
  order(points);
  std::u32string upper;
  for (const char32_t point : compose(points)) append_mapped(upper, point, upper_runs, upper_units);
  return text_of(upper);
}

std::string lower(const std::string& text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) append_mapped(points, next_point(text, at), lower_runs, lower_units);
  return text_of(points);
}

}  // namespace keyledger
