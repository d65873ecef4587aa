// Names as the file systems of other machines, and git for them, take them for the same.
#pragma once

#include <string>
#include <string_view>

namespace cordon {

// Lower case of ASCII; without what HFS+ ignores, and without the dots and spaces that NTFS drops
// at the end; the two letters of Unicode that fold to ASCII; `.git` for its short name on NTFS. Git
// refuses to check out any of these for `.git` itself, whatever the file system.
inline std::string folded_name(std::string_view name) {
  std::string folded;
  folded.reserve(name.size());
  for (size_t i = 0; i < name.size();) {
    auto byte = [&](size_t at) {
      return i + at < name.size() ? static_cast<unsigned char>(name[i + at]) : 0u;
    };
    unsigned first = byte(0);
    unsigned second = byte(1);
    unsigned third = byte(2);
    // U+200C to U+200F and U+202A to U+202E; U+206A to U+206F; U+FEFF.
    bool ignored = (first == 0xe2 && second == 0x80 &&
                    ((third >= 0x8c && third <= 0x8f) || (third >= 0xaa && third <= 0xae))) ||
                   (first == 0xe2 && second == 0x81 && third >= 0xaa && third <= 0xaf) ||
                   (first == 0xef && second == 0xbb && third == 0xbf);
    if (ignored) {
      i += 3;
    } else if (first == 0xe2 && second == 0x84 && third == 0xaa) {  // the kelvin sign
      folded += 'k';
      i += 3;
    } else if (first == 0xc5 && second == 0xbf) {  // the long s
      folded += 's';
      i += 2;
    } else {
      folded += static_cast<char>(first >= 'A' && first <= 'Z' ? first - 'A' + 'a' : first);
      ++i;
    }
  }
  while (folded.size() > 1 && (folded.back() == '.' || folded.back() == ' ')) folded.pop_back();
  return folded == "git~1" ? ".git" : folded;
}

}  // namespace cordon
